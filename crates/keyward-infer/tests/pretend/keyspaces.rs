//! The keyspaces.

/// Made up in the style of applications. One pattern a line: how many keys, type, TTL in seconds or `-`, pattern, and
/// the fields of a hash or of a JSON document.
pub(crate) const KEYSPACES: &[(&str, &str)] = &[
    (
        "shop",
        "
        200 hash 86400 cart:{uint}                 items,total,currency
        200 string 3600 product:{uint}:page        {title,price,stock}
        50  set -      category:{uint}:products
        300 hash 604800 session:{hex32}            user_id,ip,created_at
        1   zset -     ranking:sales
        1   string -   stats:orders
        20  string 60  lock:order:{uint}
        80  list -     user:{uint}:recent
        80  hash -     user:{uint}                 name,email,created_at
        ",
    ),
    (
        "queues",
        "
        6   list -     bull:{word6}:wait
        6   list -     bull:{word6}:active
        6   zset -     bull:{word6}:delayed
        6   hash -     bull:{word6}:meta           opts,version
        6   string -   bull:{word6}:id
        6   stream -   bull:{word6}:events
        300 hash -     bull:{word6}:{uint}         name,data,opts,timestamp
        ",
    ),
    (
        "names",
        "
        100 string 900 user:{name}:token
        100 hash -     user:{name}:profile         first,last,age
        60  set -      user:{name}:followers
        40  string -   flag:{word20}
        500 string 300 page:{slug}:html
        ",
    ),
    (
        "slashes",
        "
        100 string 60  api/v1/users/{uint}
        100 string 60  api/v1/users/{uint}/orders  {id,lines}
        50  string 60  api/v1/products/{slug}
        8   hash -     app/config/{word8}          a,b
        ",
    ),
    (
        "dashes",
        "
        200 string 86400 celery-task-meta-{uuid}   {status,result,task_id}
        5   set -        _kombu.binding.{word5}
        1   list -       celery
        1   hash -       unacked
        1   zset -       unacked_index
        1   string 300   unacked_mutex
        ",
    ),
    (
        "glued",
        "
        200 string 3600 cache{hex32}
        100 hash -     user-{uint}                 a,b,c
        100 string 600 v2_{upper}
        60  string 600 report.{date}.csv
        ",
    ),
    (
        "convention",
        "
        80  string 7200 bo:auth:token:cache:{hex32}
        80  hash 7200   bo:user:profile:cache:{uint}   nickname,level
        80  hash 3600   bo:user:stats:cache:{uint}     orders,volume
        80  string 3600 bo:order:stats:cache:{uint}
        40  string 60   bo:market:tick:cache:{upper}
        120 list 60     bo:market:kline:cache:{upper}:{window}
        1   string 30   bo:order:settlement:lock:task
        1   string 30   bo:order:hedge:lock:compensation
        ",
    ),
    (
        "tenants",
        "
        60  hash -      {slug9}:user:{uint}           name,mail
        60  string 600  {slug9}:cache:{hex16}
        9   string -    {slug9}:settings              {theme,locale}
        30  list -      {slug9}:jobs:{date}
        ",
    ),
    (
        "limits",
        "
        100 string 60   rl:{ip}:{window}
        100 string 60   ratelimit:login:{email}
        60  zset 3600   ratelimit:api:{uuid}
        100 string 60   rate:/api/{word6}:{uint}
        ",
    ),
    (
        "opaque",
        "
        300 string 86400 sess:{nanoid}                {uid,exp}
        200 string 86400 rt:{base36}
        200 hash -       doc:{ulid}                   title,body
        100 set -        doc:{ulid}:tags
        ",
    ),
    (
        "tagged",
        "
        100 hash -       {{user:{uint}}}:profile      name,mail
        100 list -       {{user:{uint}}}:feed
        100 zset -       {{{uint}}}:scores
        ",
    ),
    (
        "camel",
        "
        100 hash -       userProfile:{uint}           displayName,avatarUrl
        100 string 60    userSession:{uuid}
        50  string 60    loginAttempts{uint}
        ",
    ),
    (
        "metrics",
        "
        600 string 86400 metric:{word30}:{date}
        100 hash 86400   hits:{date}                  page,total
        24  string -     stat:{word24}:total
        ",
    ),
    (
        "pipes",
        "
        100 string 300   svc|orders|{uint}
        100 string 300   svc|users|{uuid}|v1
        40  hash -       svc|region|{locale}          a,b
        ",
    ),
    (
        "paths",
        "
        300 string 600   page:{path}
        100 string -     etag:{path}
        20  hash -       site:{uint}                  host,tls
        ",
    ),
    (
        "trees",
        "
        300 string 600   menu:{way}:html
        200 hash -       menu:{way}                    title,order
        60  set -        site:{uint}:pages
        ",
    ),
    (
        "pairs",
        "
        200 string 900   forecast:{word40}_{date}
        100 string 60    fail:{email}_{ip}
        80  hash -       quote:{upper}-{upper}         bid,ask
        ",
    ),
];

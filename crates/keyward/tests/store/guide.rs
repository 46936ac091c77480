//! What the guide shows, run.

use super::shop::{Prefix, events, fields, keys, values};
// ANCHOR: imports
use keyward::{BreakerSettings, EntryId, Error, Prefixed, Store};
// ANCHOR_END: imports
use keyward_testkit::Server;
use std::time::Duration;

type Done = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn what_the_guide_shows_is_so() -> Done {
    for server in Server::all() {
        let prefix = Prefix { tenant: values::Tenant::new("acme")? };
        let shop = super::patient(&server).await.with_prefix(prefix);
        strings(&shop).await?;
        hashes(&shop).await?;
        collections(&shop).await?;
        counting(&shop).await?;
        limits(&shop).await?;
        open_fields(&shop).await?;
        flags(&shop).await?;
        rankings(&shop).await?;
        load_many(&shop).await?;
        caching(&shop).await?;
        server.command(&["FLUSHALL"]);
        many_at_once(&shop).await?;
    }
    Ok(())
}

#[test]
fn a_store_is_built_with_settings() -> Done {
    let url = "redis://127.0.0.1:6379"; // where nothing needs to be: it is not asked
    // ANCHOR: builder
    let store = Store::builder(url)
        .connect_timeout(Duration::from_secs(1))
        .response_timeout(Duration::from_millis(500))
        .breaker(
            BreakerSettings::default()
                .error_rate(0.5) // half of the answers were errors,
                .window(Duration::from_secs(10)) // of those in ten seconds,
                .min_samples(5) // which were at least five;
                .silence(Duration::from_secs(1)) // or only errors came for a second:
                .cooldown(Duration::from_secs(1)) // nothing is asked for a second,
                .probes(2), // until two in a row are answered
        )
        .fallback(64) // loads at once while Redis is away
        .l1(10_000) // values in this process
        .lazy()?; // or `.connect().await?`
    // ANCHOR_END: builder
    // ANCHOR: behind
    let tenant = values::Tenant::new("acme")?;
    let acme = store.with_prefix(Prefix { tenant });
    assert_eq!(acme.at(keys::Page { product: 7 }).name(), "acme:page:7");
    // ANCHOR_END: behind
    Ok(())
}

async fn strings(shop: &Prefixed<Prefix>) -> Done {
    // ANCHOR: strings
    let page = shop.at(keys::Page { product: 7 });
    page.set(&"<h1>Kettle</h1>".to_owned()).await?;
    assert_eq!(page.get().await?.as_deref(), Some("<h1>Kettle</h1>"));
    assert!(!page.set_if_absent(&"too late".to_owned()).await?);
    assert!(page.remaining().await?.is_some());
    assert_eq!(page.take().await?.as_deref(), Some("<h1>Kettle</h1>"));
    assert!(!page.exists().await?);
    // ANCHOR_END: strings
    // ANCHOR: living
    let code = shop.at(keys::Code { customer: 1 });
    let code = code.living(Duration::from_secs(90))?; // without it, `set` does not compile
    code.set(&123_456).await?;
    // ANCHOR_END: living
    assert!(shop.at(keys::Code { customer: 1 }).living(Duration::from_secs(601)).is_err());
    Ok(())
}

async fn hashes(shop: &Prefixed<Prefix>) -> Done {
    use fields::Product;

    // ANCHOR: hashes
    let product = shop.at(keys::Product { product: 7 });
    product.set(&Product { name: "Kettle".into(), stock: 3, colour: None }).await?;
    assert_eq!(product.get_field(Product::STOCK).await?, Some(3));
    assert_eq!(product.increment(Product::STOCK, 2).await?, Some(5));
    let red = fields::product::Colour::Red;
    product.update([Product::NAME.to(&"Big kettle".into()), Product::COLOUR.to(&red)]).await?;
    let kettle = Product { name: "Big kettle".into(), stock: 5, colour: Some(red) };
    assert_eq!(product.get().await?, Some(kettle));

    // Half a hash could not be read back, so none is made.
    let missing = shop.at(keys::Product { product: 8 });
    assert!(!missing.set_field(Product::STOCK, &1).await?);
    // ANCHOR_END: hashes
    Ok(())
}

async fn collections(shop: &Prefixed<Prefix>) -> Done {
    // ANCHOR: lists_and_sets
    let seen = shop.at(keys::Seen { customer: 1 });
    seen.push_back(&[7, 8, 9, 10]).await?;
    assert_eq!(seen.range(0, -1).await?, [8, 9, 10]);

    let wanted = shop.at(keys::Wanted { customer: 1 });
    wanted.add(&[7, 8]).await?;
    assert!(matches!(wanted.add(&[9]).await, Err(Error::Full { max_len: 2, .. })));
    assert!(wanted.contains(&7).await?);
    // ANCHOR_END: lists_and_sets
    // ANCHOR: sorted_sets_and_streams
    let best = shop.at(keys::Best {});
    let [kettle, cup] = ["kettle", "cup"].map(str::to_owned);
    best.add([(&kettle, 40), (&cup, 12)]).await?;
    assert_eq!(best.top(1).await?, [(kettle.clone(), 40)]);
    assert_eq!(best.by_score(..20).await?, [(cup, 12)]);
    assert_eq!(best.rank_from_top(&kettle).await?, Some(0));

    let orders = shop.at(keys::Orders { customer: 1 });
    let first = orders.append(&fields::Orders { product: 7, pieces: 1 }).await?;
    orders.append(&fields::Orders { product: 8, pieces: 6 }).await?;
    assert_eq!(orders.range(EntryId::MIN, EntryId::MAX, 100).await?.len(), 2);
    assert_eq!(orders.read_after(first, 100).await?.len(), 1);
    // ANCHOR_END: sorted_sets_and_streams
    Ok(())
}

async fn counting(shop: &Prefixed<Prefix>) -> Done {
    // ANCHOR: counting
    let views = shop.at(keys::Views { product: 7 });
    assert_eq!(views.add(1).await?.value, 1);
    assert!(!views.add(-2).await?.counted); // it would be below zero: nothing has changed

    let exports = shop.at(keys::Exports { customer: 1 });
    assert!(exports.take(60).await?.counted);
    assert!(!exports.take(60).await?.counted); // all or nothing
    exports.refund(60).await?;
    assert_eq!(exports.used().await?, 0);
    // ANCHOR_END: counting
    Ok(())
}

async fn limits(shop: &Prefixed<Prefix>) -> Done {
    let address = std::net::Ipv4Addr::LOCALHOST.into();
    // ANCHOR: limits
    let login = shop.at(keys::LoginLimit { customer: 1 });
    let attempt = login.check().await?;
    assert!(attempt.allowed && attempt.remaining == 4 && !attempt.outage);
    assert_eq!(login.peek().await?.remaining, 4); // asks, and counts nothing

    // Both, or neither: a refused attempt is counted nowhere.
    let address = shop.at(keys::AddressLimit { address });
    let attempt = shop.limits().and_cost(&login, 5).and(&address).check().await?;
    assert!(!attempt.allowed && !attempt.each[0].allowed && attempt.each[1].allowed);
    assert_eq!(address.peek().await?.remaining, 100);

    login.reset().await?; // a password was reset, say
    assert!(login.check_cost(5).await?.allowed);
    // ANCHOR_END: limits
    Ok(())
}

async fn open_fields(shop: &Prefixed<Prefix>) -> Done {
    // ANCHOR: open
    let sold = shop.at(keys::Sold { product: 7 });
    assert_eq!(sold.increment_other("berlin", 3).await?, Some(3));
    sold.set_other("hamburg", &5).await?;
    assert_eq!(sold.get_other("hamburg").await?, Some(5));
    // ANCHOR_END: open
    Ok(())
}

async fn flags(shop: &Prefixed<Prefix>) -> Done {
    use super::shop::stored::OwnFeature;

    // ANCHOR: use_flags
    let name = values::Name::new("dark-mode")?;
    let feature = shop.at(keys::Feature { name: name.clone() });
    feature.set(&serde_json::json!({ "customers": [1, 2] })).await?;

    let own = |customer| keys::OwnFeature { name: name.clone(), customer };
    let is_in = |rollout: &serde_json::Value| rollout["customers"][0] == 1;
    assert!(feature.enabled_for_if(own(1), is_in).await?);

    shop.at(own(1)).set(&OwnFeature::Disabled).await?; // this customer does not want it
    assert!(!feature.enabled_for_if(own(1), is_in).await?);
    assert!(!shop.at(own(2)).enabled().await?); // nothing is stored: the default
    // ANCHOR_END: use_flags
    Ok(())
}

async fn rankings(shop: &Prefixed<Prefix>) -> Done {
    let [monday, tuesday]: [keyward::Date; 2] = ["2026-11-16".parse()?, "2026-11-17".parse()?];
    // ANCHOR: use_rankings
    let [kettle, cup] = ["kettle", "cup"].map(str::to_owned);
    let today = shop.at(keys::Bestsellers { day: monday });
    today.add([(&kettle, 40)]).await?;
    today.increment(&cup, 40.0).await?;
    let seen = today.around(&cup, 1).await?.ok_or("not on the board")?;
    assert_eq!((seen.around.len(), today.score(&cup).await?), (2, Some(40)));

    let week = [monday, tuesday].map(|day| keys::Bestsellers { day });
    assert_eq!(shop.top_of_all(week, 10).await?.len(), 2);
    // ANCHOR_END: use_rankings
    Ok(())
}

async fn load_many(shop: &Prefixed<Prefix>) -> Done {
    #[derive(Debug)]
    struct DatabaseIsDown;

    // ANCHOR: load_many
    let load = |missing: Vec<keys::Discount>| async {
        let discounts = missing.into_iter().filter(|key| key.customer < 3).map(|key| (key, 5));
        Ok::<_, DatabaseIsDown>(discounts)
    };
    let customers = [1, 2, 3].map(|customer| keys::Discount { customer });
    let discounts = shop.get_or_load_many(customers, load).await.unwrap();
    assert_eq!(discounts, [Some(5), Some(5), None]);
    // ANCHOR_END: load_many
    shop.at(keys::Discount { customer: 1 }).delete().await?;
    Ok(())
}

async fn many_at_once(shop: &Prefixed<Prefix>) -> Done {
    use futures_util::TryStreamExt as _;

    // ANCHOR: pipeline
    let mut batch = shop.pipeline();
    let stock = batch.add(shop.at(keys::Product { product: 7 }).get_field(fields::Product::STOCK));
    let views = batch.add(shop.at(keys::Views { product: 7 }).add(1));
    let mut results = batch.run().await?; // one round trip
    assert_eq!((results.take(stock)?, results.take(views)?.value), (None, 1));
    // ANCHOR_END: pipeline
    shop.at(keys::Page { product: 2 }).set(&"two".to_owned()).await?;
    // ANCHOR: many
    let pages = shop.get_many([1, 2, 3].map(|product| keys::Page { product })).await?;
    assert_eq!(pages, [None, Some("two".to_owned()), None]);

    let all: Vec<keys::Page> = shop.scan().try_collect().await?;
    assert_eq!(all, [keys::Page { product: 2 }]);
    // ANCHOR_END: many
    Ok(())
}

async fn caching(shop: &Prefixed<Prefix>) -> Done {
    #[derive(Debug)]
    struct DatabaseIsDown;

    // ANCHOR: caching
    let front = shop.at(keys::FrontPage {});
    let page = front.get_or_load(|| async { Ok::<_, DatabaseIsDown>("…".to_owned()) }).await;
    assert_eq!(page.unwrap(), "…");

    let discount = shop.at(keys::Discount { customer: 1 });
    let none = || async { Ok::<Option<u64>, DatabaseIsDown>(None) };
    assert_eq!(discount.find_or_load(none).await.unwrap(), None); // remembered for 30 s

    let done = shop.emit(events::PageChanged { product: 7 }).await?;
    assert_eq!((done.removed, done.exact, done.postponed), (1, 2, false));
    // ANCHOR_END: caching
    Ok(())
}

// Runs inside of the page, and tells the frame around it what it saw, with `errors`.
const soon = () => new Promise((done) => setTimeout(done, 50));
addEventListener("load", async () => {
  await soon();
  const seen = {};
  const byId = (id) => document.getElementById(id);
  const shown = (selector) => [...document.querySelectorAll(selector)]
    .filter((it) => it.checkVisibility({ contentVisibilityAuto: true }) && it.getClientRects().length > 0);
  const rules = () => shown(".finding").map((it) => it.dataset.rule).join(" ");
  const set = (id, value) => { byId(id).value = value; byId(id).dispatchEvent(new Event("input")); };
  const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const opened = () => [...document.querySelectorAll("details.card[open] .title")]
    .map((it) => it.textContent).join(" ");
  try {
    seen.width = overflow();
    seen.scripts = document.scripts.length;
    seen.images = document.images.length;
    seen.menu = byId("menu").open;
    seen.treemap = shown(".treemap").map((it) => it.classList[1]).join(" ");
    seen.closed = document.querySelectorAll("details.card[open]").length;

    // The treemap: labels, legend, and what is too small for a label
    const box = (it) => it.getBoundingClientRect();
    const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1
      && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
    const tiles = shown(".treemap").flatMap((it) => [...it.querySelectorAll("a")]);
    const labels = (tile) => [...tile.querySelectorAll("text")];
    const tip = (tile) => tile.querySelector("title").textContent;
    seen.tiles = tiles.length;
    seen.too_long = tiles.filter((tile) =>
      labels(tile).some((it) => !inside(box(it), box(tile.querySelector("rect"))))).map(tip);
    seen.unlabelled = tiles.filter((tile) => {
      const { width, height } = tile.querySelector("rect").getBBox();
      const large = Math.max(width, height) >= 100 && Math.min(width, height) >= 20;
      return large && labels(tile).length === 0;
    }).map(tip);
    const listed = shown(".areas a").map((it) => it.textContent);
    const small = tiles.filter((tile) => labels(tile).length === 0).slice(0, 12);
    seen.unlisted = small.map(tip).filter((it) => !listed.some((name) => it.startsWith(name + ":")));
    const classes = (selector) => new Set(shown(selector).map((it) => it.getAttribute("class")));
    const missing = (used, explained) => [...used].filter((it) => !explained.has(it));
    seen.unexplained = [
      ...missing(new Set(tiles.map((it) => it.getAttribute("class"))), classes("#memory .legend i")),
      ...missing(classes("#ttl svg.strip rect"), classes("#ttl .legend i")),
      ...missing(classes("#unknown svg.strip rect"), classes("#unknown .legend i")),
    ];

    // The axis of sizes, tables behind a scroll bar, and unknown patterns
    const marks = shown("#sizes svg.scale text").map(box);
    seen.axis = marks.length > 1 && marks.every((it, at) => at === 0 || marks[at - 1].right <= it.left);
    seen.cut_off = shown(".scroll").filter((it) => it.scrollWidth > it.clientWidth + 1)
      .map((it) => it.closest("section").id);
    const patterns = shown("#unknown .pattern").map((it) => it.textContent);
    seen.unknown = patterns.length + " " + new Set(patterns).size;
    const style = (selector) => document.querySelector(selector)
      && getComputedStyle(document.querySelector(selector)).fill;
    seen.kept_is_a_fault = style("rect.kept") !== null && style("rect.kept") === style("rect.none");

    // Themes
    const dark = () => {
      const [red] = getComputedStyle(document.body).backgroundColor.match(/\d+/g);
      return byId("theme").dataset.theme + " " + (red < 128);
    };
    seen.dark = [dark()];
    for (let times = 0; times < 3; times += 1) {
      byId("theme").click();
      seen.dark.push(dark());
    }
    seen.dark = seen.dark.join(", ");

    if (byId("filters")) {
      seen.findings = shown(".finding").length;
      set("filter-severity", "error");
      seen.by_severity = rules();
      set("filter-rule", "wrong-type");
      seen.by_both = rules();
      seen.told = byId("filter-shown").textContent;
      set("filter-severity", "");
      set("filter-rule", "");
      set("filter-text", "SESS: migration");
      seen.by_text = rules();
      set("filter-text", "nothing-of-that-name");
      seen.nothing = shown(".finding").length + " " + shown("#filter-none").length;
      byId("filter-text").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
      seen.escaped = shown(".finding").length;
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "/" }));
      seen.slash = document.activeElement === byId("filter-text");

      // From an area to its details, and from there to a finding that is filtered away
      const link = shown(".treemap").flatMap((it) => [...it.querySelectorAll("a")])
        .find((it) => it.getAttribute("href") === "#key-user_watchlist");
      if (link) {
        link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
        await soon();
        seen.drilled = opened();
        const { top } = document.querySelector("details.card[open]").getBoundingClientRect();
        seen.in_view = top >= -1 && top < innerHeight;
        set("filter-rule", "old-name");
        document.querySelector("details.card[open] .found a").click();
        await soon();
        const target = document.querySelector(".finding:target");
        seen.to_finding = target && !target.hidden && target.dataset.rule;
      }
    }
    const sort = document.querySelector(".sortable th button");
    if (sort) {
      sort.click();
      const { rows } = document.querySelector(".sortable").tBodies[0];
      seen.sorted = rows[0].dataset.name + " " + rows[rows.length - 1].dataset.name;
    }
    // A definition to copy
    const toml = document.querySelector("#unknown details.toml");
    if (toml) {
      seen.toml = shown("#unknown details.toml summary").length;
      seen.folded = !toml.querySelector("pre").checkVisibility();
      toml.open = true;
      const writeText = async (text) => { seen.copied = text; };
      Object.defineProperty(navigator, "clipboard", { value: { writeText } });
      toml.querySelector(".copy").click();
      await soon();
      seen.button = toml.querySelector(".copy").textContent;
    }
    for (const details of document.querySelectorAll("details")) details.open = true;
    seen.width_open = overflow();
  } catch (error) {
    errors.push(String(error.stack));
  }
  seen.errors = errors;
  parent.postMessage([window.name, seen], "*");
});

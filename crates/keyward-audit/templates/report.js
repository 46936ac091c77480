"use strict";
// Filters, sorting, theme, and details that open when a link leads to them. The page is readable without.
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // Theme: the system's, until the reader chooses one.
  const theme = byId("theme");
  const themes = ["auto", "light", "dark"];
  const remembered = () => {
    try { return localStorage.getItem("keyward-theme") || "auto"; } catch { return "auto"; }
  };
  const wear = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    theme.textContent = name;
    theme.setAttribute("aria-label", "theme: " + name);
    theme.dataset.theme = name;
  };
  wear(themes.includes(remembered()) ? remembered() : "auto");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(theme.dataset.theme) + 1) % themes.length];
    wear(next);
    try { localStorage.setItem("keyward-theme", next); } catch { /* kept until the page is closed */ }
  });

  // Findings
  const filters = byId("filters");
  if (filters) {
    const [severity, rule, text] = ["severity", "rule", "text"].map((name) => byId("filter-" + name));
    const findings = all(".finding").map((it) => ({ it, text: it.textContent.toLowerCase() }));
    const filter = () => {
      const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const finding of findings) {
        const { it } = finding;
        const fits = (!severity.value || it.dataset.severity === severity.value)
          && (!rule.value || it.dataset.rule === rule.value)
          && words.every((word) => finding.text.includes(word));
        it.hidden = !fits;
        if (fits) shown += 1;
      }
      byId("filter-none").hidden = shown > 0;
      byId("filter-shown").textContent =
        shown === findings.length ? "" : shown + " of " + findings.length;
    };
    const clear = () => {
      severity.value = rule.value = text.value = "";
      filter();
    };
    filters.hidden = false;
    filter();
    for (const control of [severity, rule, text]) control.addEventListener("input", filter);
    text.addEventListener("keydown", (event) => {
      if (event.key === "Escape") clear();
    });
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      text.focus();
    });
    // A link to a hidden finding clears the filters.
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#finding-"]');
      const target = link && byId(link.hash.slice(1));
      if (target && target.hidden) clear();
    });
  }

  // Sorting: numbers the greatest first, names from a on.
  for (const head of all(".sortable th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const { sort } = head.dataset;
      const up = head.ariaSort ? head.ariaSort === "descending" : sort === "name";
      for (const other of all("th", head.parentElement)) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = head.closest("table").tBodies[0];
      const order = sort === "name"
        ? (a, b) => a.dataset.name.localeCompare(b.dataset.name)
        : (a, b) => a.dataset[sort] - b.dataset[sort];
      const rows = [...body.rows].sort(order);
      body.append(...(up ? rows : rows.reverse()));
    });
  }

  // Details open where a link leads, and all of them for paper.
  const open = () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* not an id of this page */ }
    const target = id && byId(id);
    const details = target && target.closest("details.card");
    if (!details) return;
    details.open = true;
    details.scrollIntoView();
    details.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", open);
  open();
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#key-"]');
    // The place may be where the reader is already, whose details were closed since.
    if (link && (link.hash || link.getAttribute("href")) === location.hash) open();
  });
  addEventListener("beforeprint", () => {
    for (const details of all("details.card:not([open])")) {
      details.open = true;
      details.dataset.closed = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const details of all("details.card[data-closed]")) {
      details.open = false;
      delete details.dataset.closed;
    }
  });

  // On a narrow screen the menu starts closed.
  const narrow = matchMedia("(max-width: 60rem)");
  const fold = () => { byId("menu").open = !narrow.matches; };
  fold();
  narrow.addEventListener("change", fold);
})();

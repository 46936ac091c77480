"use strict";
// Filters, and details that open when a link leads to them. The page is readable without.
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

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
    // A link to a hidden finding clears the filters.
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#finding-"]');
      const target = link && byId(link.hash.slice(1));
      if (target && target.hidden) clear();
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
})();

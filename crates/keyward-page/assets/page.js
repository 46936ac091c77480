"use strict";
// What every page does: theme, search key, sorting, folded menu. All of them are readable without.
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // Theme: the system's, until the reader chooses one; the first choice is what the system does not prefer. The
  // storage of a file may be forbidden: then a choice lasts until the page is closed.
  const theme = document.getElementById("theme");
  const root = document.documentElement.dataset;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const remembered = () => {
    try { return localStorage.getItem("keyward-theme"); } catch { return null; }
  };
  const wear = (name) => {
    if (name === "auto") delete root.theme;
    else root.theme = name;
    theme.dataset.theme = name;
    if (theme.hasAttribute("data-named")) theme.textContent = name;
    if (theme.hasAttribute("data-named")) theme.setAttribute("aria-label", "theme: " + name);
  };
  if (theme) {
    wear(["light", "dark"].includes(remembered()) ? remembered() : "auto");
    theme.hidden = false;
    theme.addEventListener("click", () => {
      const order = dark.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
      wear(order[(order.indexOf(theme.dataset.theme) + 1) % order.length]);
      try { localStorage.setItem("keyward-theme", theme.dataset.theme); } catch { /* see above */ }
    });
  }

  // The key `/` leads to the search.
  document.addEventListener("keydown", (event) => {
    const search = document.querySelector("[data-search]");
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (!search || event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.focus();
  });

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

  // On a narrow screen the menu starts closed.
  const narrow = matchMedia("(max-width: 60rem)");
  const menu = document.getElementById("menu");
  const fold = () => { menu.open = !narrow.matches; };
  if (menu) {
    fold();
    narrow.addEventListener("change", fold);
  }
})();

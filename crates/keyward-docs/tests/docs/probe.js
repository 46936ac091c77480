// Runs inside of the page, and tells the frame around it what it saw, with `errors`.
addEventListener("load", () => setTimeout(() => {
  const shown = (selector) => [...document.querySelectorAll(selector)]
    .filter((it) => it.getClientRects().length > 0);
  const names = () => shown(".card h3").map((it) => it.textContent).join(" ");
  const input = document.getElementById("search");
  const type = (text) => { input.value = text; input.dispatchEvent(new Event("input")); };
  const seen = {};
  seen.width = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  seen.paper = getComputedStyle(document.body).backgroundColor;
  seen.cells = shown("td").length;
  seen.beyond = shown("td").filter((it) => it.getBoundingClientRect().right > innerWidth)
    .map((it) => it.textContent);
  seen.bare = shown("section.aside td.words").filter((it) => it.textContent === "").length;
  const theme = document.getElementById("theme");
  theme.click();
  seen.switched = getComputedStyle(document.body).backgroundColor;
  theme.click();
  seen.back = getComputedStyle(document.body).backgroundColor === seen.paper;
  seen.cards = shown(".card").length;
  seen.copy = document.querySelectorAll(".copy").length > seen.cards;
  type("PRICE json");
  seen.found = names();
  seen.tables = shown("section.aside").length;
  seen.groups = shown("#side .group").map((it) => it.textContent).join(" ");
  document.querySelector('#side a[href="#ttls"]').click();
  seen.cleared = shown(".card").length;
  type("nothing-of-that-name");
  seen.nothing = shown(".card").length + " " + shown("#nothing").length;
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  seen.escaped = shown(".card").length;
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "/" }));
  seen.slash = document.activeElement === input;
  seen.menu = document.getElementById("menu").open;
  seen.scripts = document.scripts.length;
  seen.images = document.images.length;
  seen.title = document.title;
  seen.errors = errors;
  parent.postMessage([window.name, seen], "*");
}, 50));

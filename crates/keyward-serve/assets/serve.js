"use strict";
// Filters without a click, what is new without a reload, copying, the search of the reference. Pages work without.
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const here = document.body.dataset.server;

  // The parts of this page that `chosen` names are replaced by what they are now. Who asks later for the same
  // `reason` is right.
  const latest = {};
  const renew = async (reason, chosen) => {
    const own = latest[reason] = (latest[reason] || 0) + 1;
    const url = location.href;
    let page;
    try {
      const answer = await fetch(url, { headers: { Accept: "text/html" } });
      if (!answer.ok) return;
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      return;
    }
    if (own !== latest[reason]) return;
    // A filter has been changed since.
    if (url !== location.href) return renew(reason, chosen);
    const main = (of) => of.getElementById("content");
    const parts = (of) => all("[data-live]", main(of)).map((it) => it.id).join(" ");
    const busy = (it) => it.contains(document.activeElement) && document.activeElement !== it;
    if (parts(page) !== parts(document) && !busy(main(document))) {
      // Another page than before: the first audit has ended, for instance.
      main(document).replaceChildren(...document.adoptNode(main(page)).childNodes);
    } else {
      for (const old of chosen()) {
        const fresh = page.getElementById(old.id);
        if (!fresh || fresh.isEqualNode(old) || busy(old)) continue;
        // What a reader has opened to copy stays open.
        const copied = (it) => it.querySelector("pre").textContent;
        const open = new Set(all("details.toml[open]", old).map(copied));
        for (const it of all("details.toml", fresh)) it.open = open.has(copied(it));
        old.replaceWith(document.adoptNode(fresh));
      }
    }
    ready();
  };

  // What a script adds, also to what came later.
  const ready = () => {
    for (const button of all("form[data-filter] button")) button.hidden = true;
    document.dispatchEvent(new Event("keyward-fresh"));
  };

  // Filters are part of the address.
  const ask = (form) => {
    const asked = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) asked.set(name, value);
    const url = form.getAttribute("action") + (asked.size ? "?" + asked : "");
    history.replaceState(null, "", url);
    renew("filter", () => all("#results"));
  };
  const filter = (event) => event.target.closest && event.target.closest("form[data-filter]");
  let typing;
  document.addEventListener("input", (event) => {
    const form = filter(event);
    if (!form) return;
    clearTimeout(typing);
    typing = setTimeout(() => ask(form), 80);
  });
  document.addEventListener("submit", (event) => {
    const form = filter(event);
    if (!form) return;
    event.preventDefault();
    ask(form);
  });
  document.addEventListener("keydown", (event) => {
    const form = event.key === "Escape" && filter(event);
    if (!form) return;
    for (const field of form.elements) field.value = field.options ? field.options[0].value : "";
    ask(form);
  });

  // What is new comes by itself: an event says what, and the parts that show it are asked for again.
  const thousands = (number) => number.toLocaleString("en");
  if (all("[data-live]").length && "EventSource" in window) {
    const due = new Set();
    let waiting;
    const look = () => {
      waiting = undefined;
      const kinds = [...due];
      due.clear();
      const shows = (it) => it.dataset.live.split(" ").some((kind) => kinds.includes(kind));
      renew("live", () => all("[data-live]").filter(shows));
    };
    const soon = (kind) => {
      due.add(kind);
      if (document.visibilityState === "visible") waiting ??= setTimeout(look, 200);
    };
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible" && due.size) waiting ??= setTimeout(look, 0);
    });
    // A page that a browser keeps for "back" keeps its connections too, and there are six to a server: the seventh page
    // would wait for the first. So a hidden page lets go of its own.
    let events;
    let interrupted = false;
    const listen = () => {
      events = new EventSource("/events");
      const read = (event) => {
        try { return JSON.parse(event.data); } catch { return {}; }
      };
      for (const kind of ["audit", "info", "health", "found", "notices"]) {
        events.addEventListener(kind, (event) => {
          const { server } = read(event);
          if (!here || !server || server === here) soon(kind);
        });
      }
      events.addEventListener("progress", (event) => {
        const { server, auditing } = read(event);
        const told = document.getElementById("auditing");
        if (server !== here || !told || !auditing || auditing.state !== "running" || !auditing.expected) return;
        told.textContent = "auditing: " + thousands(auditing.keys) + " of " + thousands(auditing.expected) + " keys";
      });
      // After an interruption, or where too much happened at once, anything may be new.
      const anything = () => { for (const kind of ["audit", "info", "health", "found", "notices"]) soon(kind); };
      events.addEventListener("reload", anything);
      events.addEventListener("error", () => { interrupted = true; });
      events.addEventListener("open", () => {
        if (interrupted) anything();
        interrupted = false;
      });
    };
    window.addEventListener("pagehide", () => events.close());
    window.addEventListener("pageshow", (event) => {
      if (!event.persisted) return;
      interrupted = true;
      listen();
    });
    listen();
    document.documentElement.dataset.live = "listening";
  }

  ready();

  // The reference: every word must occur in a card.
  const search = document.getElementById("search");
  if (search) {
    const cards = all(".reference .card").map((card) => ({ card, text: card.textContent.toLowerCase() }));
    const asides = all(".reference section.aside");
    const groups = all(".reference section.group");
    const filter = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const { card, text } of cards) card.hidden = !words.every((word) => text.includes(word));
      for (const group of groups) group.hidden = !group.querySelector(".card:not([hidden])");
      for (const aside of asides) aside.hidden = words.length > 0;
    };
    search.closest("label").hidden = false;
    search.addEventListener("input", filter);
    search.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      search.value = "";
      filter();
    });
  }
})();

"use strict";
// Buttons that copy. Every text can be selected without.
(() => {
  const copyable = () => {
    for (const source of document.querySelectorAll("[data-copy]:not([data-copyable])")) {
      source.dataset.copyable = "";
      const text = source.textContent;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "copy";
      button.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(text);
        } catch {
          // A page may not be allowed to: the reader copies what is selected.
          getSelection().selectAllChildren(source);
          return;
        }
        button.textContent = "copied";
        button.classList.add("done");
        setTimeout(() => {
          button.textContent = "copy";
          button.classList.remove("done");
        }, 1200);
      });
      source.after(button);
    }
  };
  // What came later is said to be there.
  document.addEventListener("keyward-fresh", copyable);
  copyable();
})();

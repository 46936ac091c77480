document.querySelectorAll("nav a").forEach((link) => {
  link.classList.toggle("here", link.pathname === location.pathname);
});

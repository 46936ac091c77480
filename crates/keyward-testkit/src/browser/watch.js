"use strict";
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("securitypolicyviolation", (event) => errors.push(event.violatedDirective));
console.error = (...words) => errors.push(words.join(" "));
window.alert = (text) => errors.push("alert " + text);

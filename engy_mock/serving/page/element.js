// Elements of the page. Whatever is foreign goes in as text: nothing here reads markup.

// An element with properties and children. A property that begins with "on" listens; true is an empty attribute,
// and false, null and undefined are none, but what is said to screen readers is said as it is.
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (key.startsWith("aria-")) made.setAttribute(key, String(value));
    else if (value === false) continue;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "value") made.value = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return made;
}

// Shorter words for the elements that are made most.
const maker =
  (name) =>
  (properties, ...children) =>
    element(name, properties, ...children);
export const div = maker("div");
export const span = maker("span");
export const button = (properties, ...children) =>
  element("button", { type: "button", ...properties }, ...children);

// A name with its value, for a list of facts.
export const fact = (name, value) => div({}, element("dt", {}, name), element("dd", {}, value));

// A field under its label.
export function field(label, control, more = {}) {
  return element("label", { class: "field", ...more }, span({ class: "label" }, label), control);
}

// A choice among texts, or pairs of value and label.
export const choice = (values, properties = {}) => element("select", properties, optionsOf(values));

// Offer these in a choice from now on: what was chosen stays so where it is among them, else it is the first. The
// options are made for it: those of another select would each be chosen there in turn as they are taken away.
export function offer(select, values) {
  const before = select.value;
  const options = optionsOf(values);
  select.replaceChildren(...options);
  select.value = (options.find(({ value }) => value === before) ?? options[0])?.value ?? "";
}

const optionsOf = (values) =>
  values
    .map((one) => (Array.isArray(one) ? one : [one, one]))
    .map(([value, label]) => element("option", { value }, label));

// Put other children into a place; whatever had the focus there has it again, if it goes by the same data-key.
export function refill(place, ...children) {
  keepingFocus(place, () => place.replaceChildren(...children.flat(Infinity).filter(Boolean)));
}

// The same for whatever an act does to the place.
export function keepingFocus(place, act) {
  const active = document.activeElement;
  const key = place.contains(active) ? active.dataset.key : undefined;
  act();
  if (key !== undefined) place.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

// Call a function soon, and not more often than once in so many milliseconds.
export function calmly(act, milliseconds) {
  let waits = false;
  let again = false;
  return function call() {
    if (waits) {
      again = true;
      return;
    }
    waits = true;
    act();
    setTimeout(() => {
      waits = false;
      if (again) {
        again = false;
        call();
      }
    }, milliseconds);
  };
}

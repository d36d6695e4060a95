export function round(value) {
  return Math.round(value);
}

export const label = (text, width) => {
  function pad(inner) {
    return inner.padEnd(width);
  }
  return pad(String(text)); //> label.pad
};

function pad(text) {
  return text;
}

export { pad as widen };
export { default as log } from './log.js';

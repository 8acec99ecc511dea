/** Our own icons: 16 px grid, 1.2 px stroke, `currentColor`. */

import { html, svg, type TemplateResult } from 'lit-html';

const SHAPES = {
  send: svg`<path d="M8 13V3.5M3.8 7.7 8 3.5l4.2 4.2"/>`,
  stop: svg`<rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor" stroke="none"/>`,
  pause: svg`<path d="M6 4v8M10 4v8" stroke-width="1.8"/>`,
  play: svg`<path d="m5 3.5 7 4.5-7 4.5z" fill="currentColor"/>`,
  plus: svg`<path d="M8 3v10M3 8h10"/>`,
  down: svg`<path d="m4 6.2 4 4 4-4"/>`,
  right: svg`<path d="m6.2 4 4 4-4 4"/>`,
  check: svg`<path d="m3 8.6 3.2 3.2L13 5"/>`,
  x: svg`<path d="m4 4 8 8M12 4l-8 8"/>`,
  copy: svg`<rect x="5.5" y="5.5" width="8" height="8" rx="1.2"/><path d="M10.5 5.5V3.2c0-.4-.3-.7-.7-.7H3.2c-.4 0-.7.3-.7.7v6.6c0 .4.3.7.7.7h2.3"/>`,
  file: svg`<path d="M9 2.5H4.2c-.4 0-.7.3-.7.7v9.6c0 .4.3.7.7.7h7.6c.4 0 .7-.3.7-.7V6z"/><path d="M9 2.5V6h3.5"/>`,
  folder: svg`<path d="M2.5 4.2c0-.4.3-.7.7-.7h3l1.5 1.6h5.1c.4 0 .7.3.7.7v6c0 .4-.3.7-.7.7H3.2c-.4 0-.7-.3-.7-.7z"/>`,
  term: svg`<rect x="2" y="3" width="12" height="10" rx="1.2"/><path d="m4.8 6.2 2 1.8-2 1.8M8.4 10h2.8"/>`,
  search: svg`<circle cx="7" cy="7" r="4"/><path d="m10 10 3.5 3.5"/>`,
  edit: svg`<path d="m10.6 3.2 2.2 2.2-7.2 7.2-2.9.7.7-2.9z"/><path d="m9.2 4.6 2.2 2.2"/>`,
  undo: svg`<path d="M3 6.5h6.5a3.2 3.2 0 0 1 0 6.5H6M3 6.5 5.8 3.7M3 6.5l2.8 2.8"/>`,
  retry: svg`<path d="M12.9 8a4.9 4.9 0 1 1-1.5-3.5l1.5 1.4M12.9 2.9v3h-3"/>`,
  history: svg`<path d="M3.1 8A4.9 4.9 0 1 0 4.6 4.5L3.1 5.9M3.1 2.9v3h3M8 5.4V8l1.9 1.3"/>`,
  image: svg`<rect x="2.5" y="3" width="11" height="10" rx="1.2"/><circle cx="6" cy="6.4" r="1.1"/><path d="m3 11.8 3.2-2.9 2.2 1.9 2.4-2.5 2.4 2.4"/>`,
  diff: svg`<rect x="2.5" y="2.5" width="11" height="11" rx="1.2"/><path d="M8 2.5v11M4 6h2.4M10 5v2.4M8.8 6.2h2.4M4 10h2.4M9.6 10H12"/>`,
  eye: svg`<path d="M1.8 8S4 4 8 4s6.2 4 6.2 4-2.2 4-6.2 4-6.2-4-6.2-4z"/><circle cx="8" cy="8" r="1.8"/>`,
  eyeoff: svg`<path d="M3.4 5.6A10 10 0 0 0 1.8 8s2.2 4 6.2 4c1 0 2-.3 2.7-.7M6.3 4.2A6 6 0 0 1 8 4c4 0 6.2 4 6.2 4a10 10 0 0 1-1.7 2.3M3 3l10 10"/>`,
  warn: svg`<path d="M8 2.6 14 13H2z"/><path d="M8 6.6v3M8 11.1v.3"/>`,
  error: svg`<circle cx="8" cy="8" r="5.5"/><path d="M8 5v3.6M8 10.6v.3"/>`,
  info: svg`<circle cx="8" cy="8" r="5.5"/><path d="M8 7.4V11M8 5.1v.3"/>`,
  deny: svg`<circle cx="8" cy="8" r="5.5"/><path d="m4.2 4.2 7.6 7.6"/>`,
  todo: svg`<circle cx="8" cy="8" r="5"/>`,
  now: svg`<circle cx="8" cy="8" r="5"/><circle cx="8" cy="8" r="2" fill="currentColor" stroke="none"/>`,
  done: svg`<circle cx="8" cy="8" r="5"/><path d="m5.6 8.2 1.7 1.7 3.1-3.4"/>`,
  comment: svg`<path d="M2.5 3.5h11v7.5H7.6L5 13.3V11H2.5z"/>`,
  lock: svg`<rect x="3.5" y="7" width="9" height="6.5" rx="1"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>`,
  globe: svg`<circle cx="8" cy="8" r="5.5"/><path d="M2.5 8h11M8 2.5c2 2 2 9 0 11M8 2.5c-2 2-2 9 0 11"/>`,
  at: svg`<circle cx="8" cy="8" r="2.3"/><path d="M10.3 5.8V9c0 .9.6 1.5 1.4 1.5.9 0 1.5-.8 1.5-2.5A5.2 5.2 0 1 0 11 12.3"/>`,
  key: svg`<circle cx="5.5" cy="10.5" r="2.5"/><path d="m7.4 8.6 5-5M10.4 5.6l1.7 1.7"/>`,
  cloud: svg`<path d="M4.8 12a2.6 2.6 0 0 1-.3-5.2 3.7 3.7 0 0 1 7.1.9A2.2 2.2 0 0 1 11.5 12z"/>`,
  chip: svg`<rect x="4" y="4" width="8" height="8" rx="1"/><path d="M6.3 4V2.3M9.7 4V2.3M6.3 13.7V12M9.7 13.7V12M4 6.3H2.3M4 9.7H2.3M13.7 6.3H12M13.7 9.7H12"/>`,
  clock: svg`<circle cx="8" cy="8" r="5.5"/><path d="M8 4.8V8l2.2 1.4"/>`,
  sel: svg`<path d="M2.5 4V2.5H4M12 2.5h1.5V4M13.5 12v1.5H12M4 13.5H2.5V12M5 6h6M5 8h4M5 10h5"/>`,
  lamp: svg`<path d="M8 3.2a3.6 3.6 0 0 0-3.6 3.6c0 1.5.9 2.3 1.4 3.1h4.4c.5-.8 1.4-1.6 1.4-3.1A3.6 3.6 0 0 0 8 3.2zM6.2 12h3.6M7 13.7h2"/><path d="M13.2 6.8h1.3M1.5 6.8h1.3"/>`,
  scrolldown: svg`<path d="M8 3v9M4.2 8.4 8 12.2l3.8-3.8"/>`,
  blank: svg``,
} as const;

export type IconName = keyof typeof SHAPES | 'spin';

const SPIN = svg`<circle cx="8" cy="8" r="5" opacity=".28"/><path d="M13 8a5 5 0 0 0-5-5"/>`;

/** Decorative: the word beside it says the same. */
export function icon(name: IconName, classes = ''): TemplateResult {
  const shape = name === 'spin' ? SPIN : SHAPES[name];
  const all = `i ${name === 'spin' ? 'spin ' : ''}${classes}`.trim();
  return html`<svg class=${all} viewBox="0 0 16 16" aria-hidden="true" focusable="false">${shape}</svg>`;
}

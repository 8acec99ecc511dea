/** Times that run: one text each, once a second, so that nothing else is drawn for them. */

import { clock } from './format';

function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Writes all running times of the page; `now` in milliseconds since 1970. */
export function tick(root: ParentNode, now: number): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-since]')) {
    write(element, clock(now - Number(element.dataset['since'])));
  }
  for (const element of root.querySelectorAll<HTMLElement>('[data-until]')) {
    write(element, String(Math.max(0, Math.ceil((Number(element.dataset['until']) - now) / 1000))));
  }
  for (const element of root.querySelectorAll<HTMLElement>('[data-bar]')) {
    const left = Math.max(0, Number(element.dataset['bar']) - now);
    const share = Math.min(1, left / Math.max(1, Number(element.dataset['of'])));
    element.style.inlineSize = `${Math.round((1 - share) * 100)}%`;
  }
}

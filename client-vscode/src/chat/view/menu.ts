/** A menu above the composer, so that it never covers the draft; one tab stop, arrows inside. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { App } from './app';
import type { Piece } from './parts';

export interface Choice {
  current: boolean;
  mark: TemplateResult;
  name: TemplateResult;
  hint: string;
  id: string;
  choose: () => void;
}

/** One of several, of which one holds. */
export function choice({ current, mark, name, hint, id, choose }: Choice): TemplateResult {
  return html`<button
    class=${current ? 'mi two act' : 'mi two'}
    type="button"
    role="menuitemradio"
    aria-checked=${current}
    tabindex=${current ? 0 : -1}
    data-choice=${id}
    @click=${choose}
  >
    ${mark}${name}<span></span>${hint ? html`<span class="hint">${hint}</span>` : nothing}
  </button>`;
}

/** Arrows, Home and End go through the items, a letter to the next that begins with it; Escape and Tab leave. */
export function menuKey(app: App, event: KeyboardEvent): void {
  const menu = event.currentTarget as HTMLElement;
  const items = [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1 + items.length,
    Home: 0,
    End: items.length - 1,
  };
  const to = steps[event.key] ?? beginning(items, at, event);
  if (to !== undefined && items.length) {
    items[to % items.length]?.focus();
    event.preventDefault();
  } else if (event.key === 'Escape' || event.key === 'Tab') {
    app.menu(null, true);
    event.preventDefault();
    event.stopPropagation();
  }
}

function beginning(items: HTMLElement[], at: number, event: KeyboardEvent): number | undefined {
  if (event.key.length !== 1 || event.altKey || event.ctrlKey || event.metaKey) return undefined;
  const letter = event.key.toLowerCase();
  for (let step = 1; step <= items.length; step += 1) {
    const index = (at + step) % items.length;
    if (items[index]?.textContent.trim().toLowerCase().startsWith(letter)) return index;
  }
  return undefined;
}

export function choices(app: App, label: string, items: TemplateResult[], note: string): TemplateResult {
  const foot: Piece = note
    ? html`<hr />
        <div class="grp">${note}</div>`
    : nothing;
  return html`<div
    class="pop start"
    role="menu"
    aria-label=${label}
    data-menu
    @keydown=${(event: KeyboardEvent) => menuKey(app, event)}
  >
    ${items}
    <div role="none">${foot}</div>
  </div>`;
}

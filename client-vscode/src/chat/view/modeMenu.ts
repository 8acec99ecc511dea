/** The mode picker: one menu above the composer, so that it never covers the draft. */

import { html, type TemplateResult } from 'lit-html';

import type { ModeInfo, Modes } from '../../protocol';
import type { App } from './app';
import { icon } from './icons';
import { t } from './l10n';

export const BYPASS = 'bypassPermissions';

/** The colour that goes with a mode's word; a mode without one is neutral. */
const COLOURS: Record<string, string> = {
  plan: 'accent',
  acceptEdits: 'warn',
  bypassPermissions: 'danger',
  dontAsk: 'danger',
};

export function modeColour(id: string): string {
  return COLOURS[id] ?? '';
}

/** The modes that Alt+M goes through; those that ask less are chosen by hand. */
const STEPPED = ['default', 'acceptEdits', 'plan'];

export function modeName(modes: Modes): string {
  return modes.availableModes.find((mode) => mode.id === modes.currentModeId)?.name ?? modes.currentModeId;
}

/** The mode that Alt+M takes next; undefined when there is none to go to. */
export function nextMode(modes: Modes): string | undefined {
  const ids = STEPPED.filter((id) => modes.availableModes.some((mode) => mode.id === id));
  const next = ids[(ids.indexOf(modes.currentModeId) + 1) % Math.max(1, ids.length)];
  return next === modes.currentModeId ? undefined : next;
}

export function closeMenu(app: App, back: boolean): void {
  if (app.ui.menu === null) return;
  app.ui.menu = null;
  app.redraw();
  if (back) document.querySelector<HTMLElement>('[data-act="mode"]')?.focus();
}

function item(app: App, mode: ModeInfo, current: boolean): TemplateResult {
  const choose = () => {
    if (!current) app.post({ type: 'mode', id: mode.id });
    closeMenu(app, true);
  };
  const warn = mode.id === BYPASS;
  const colour = modeColour(mode.id);
  return html`<button
    class=${current ? 'mi two act' : 'mi two'}
    type="button"
    role="menuitemradio"
    aria-checked=${current}
    tabindex=${current ? 0 : -1}
    data-mode-choice=${mode.id}
    @click=${choose}
  >
    ${icon(current ? 'check' : warn ? 'warn' : 'blank', warn ? 'danger' : '')}<span class=${colour}
      >${mode.name}</span
    ><span></span><span class="hint">${mode.description ?? ''}</span>
  </button>`;
}

/** Arrows, Home and End go through the items, Escape and Tab leave. */
export function menuKey(app: App, event: KeyboardEvent): void {
  const items = [...document.querySelectorAll<HTMLElement>('.pop [role^="menuitem"]')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
  if (to !== undefined) {
    items[to % items.length]?.focus();
    event.preventDefault();
  } else if (event.key === 'Escape' || event.key === 'Tab') {
    closeMenu(app, true);
    event.preventDefault();
    event.stopPropagation();
  }
}

export function modeMenu(app: App): TemplateResult {
  const { modes } = app.state.shell;
  const all = modes?.availableModes ?? [];
  return html`<div
    class="pop start"
    role="menu"
    aria-label=${t('Mode')}
    @keydown=${(event: KeyboardEvent) => menuKey(app, event)}
  >
    ${all.map((mode) => item(app, mode, mode.id === modes?.currentModeId))}
  </div>`;
}

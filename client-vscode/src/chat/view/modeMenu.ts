/** The permission modes: their names, their colours, the next one, and the menu of them. */

import { html, type TemplateResult } from 'lit-html';

import type { ModeInfo, Modes } from '../../protocol';
import type { App } from './app';
import { icon } from './icons';
import { t } from './l10n';
import { choice, choices } from './menu';

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

function item(app: App, mode: ModeInfo, current: boolean): TemplateResult {
  const warn = mode.id === BYPASS;
  return choice({
    current,
    mark: icon(current ? 'check' : warn ? 'warn' : 'blank', warn ? 'danger' : ''),
    name: html`<span class=${modeColour(mode.id)}>${mode.name}</span>`,
    hint: mode.description ?? '',
    id: mode.id,
    choose: () => {
      if (!current) app.post({ type: 'mode', id: mode.id });
      app.menu(null, true);
    },
  });
}

export function modeMenu(app: App): TemplateResult {
  const { modes } = app.state.shell;
  const all = modes?.availableModes ?? [];
  return choices(
    app,
    t('Mode'),
    all.map((mode) => item(app, mode, mode.id === modes?.currentModeId)),
    t('Alt+M takes the next of the first three'),
  );
}

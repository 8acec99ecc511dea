/** Where prompts are written: what goes along, the text, the mode, stop and send. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { Chip } from '../../state';
import { type App, hindrance } from './app';
import { icon } from './icons';
import { count, t } from './l10n';
import { BYPASS, modeColour, modeMenu, modeName } from './modeMenu';
import { chipIcon, chipLabel, iconButton, type Piece } from './parts';

function selectionChip(app: App, chip: Chip): TemplateResult {
  const on = chip.on !== false;
  const lines = chip.range ? chip.range[1] - chip.range[0] + 1 : 0;
  const hint = on
    ? t('The selection goes along. Click to leave it out')
    : t('The selection stays out. Click to send it');
  const toggle = () => {
    app.post({ type: 'selection', on: !on });
    app.say(on ? t('The selection stays out') : t('The selection goes along'));
  };
  return html`<span class=${on ? 'chip sel' : 'chip sel off'} data-chip="selection"
    >${chipIcon(chip)}<span class="lbl ell"><bdi>${chipLabel(chip)}</bdi></span
    ><span class="muted num">${count(lines, '{0} line', '{0} lines')}</span
    ><button
      class="ib"
      type="button"
      role="switch"
      aria-checked=${on}
      aria-label=${t('Send the selection {0}', chipLabel(chip))}
      title=${hint}
      data-act="selection"
      @click=${toggle}
    >
      ${icon(on ? 'eye' : 'eyeoff')}
    </button></span
  >`;
}

function removable(chip: Chip, remove: () => void): TemplateResult {
  const label = t('Remove {0}', chipLabel(chip));
  return html`<span class="chip sel" data-chip=${chip.kind}
    >${chipIcon(chip)}<span class="lbl ell"><bdi>${chipLabel(chip)}</bdi></span
    >${iconButton('x', label, 'removeChip', remove)}</span
  >`;
}

function chips(app: App): Piece {
  const { ui, state } = app;
  const pictures = ui.images.map((image, index) =>
    removable({ id: image.name, kind: 'image', name: image.name }, () => {
      ui.images = ui.images.filter((_, other) => other !== index);
      app.redraw();
      app.focusPrompt();
    }),
  );
  const known = state.shell.chips.map((chip) => {
    if (chip.id === 'selection') return selectionChip(app, chip);
    return removable(chip, () => {
      app.post({ type: 'removeChip', id: chip.id });
      app.focusPrompt();
    });
  });
  return known.length + pictures.length ? html`<div class="chips">${known}${pictures}</div>` : nothing;
}

function sendButtons(app: App, send: () => void, written: boolean): TemplateResult {
  const busy = app.state.shell.running;
  const label = busy ? t('Queue') : t('Send');
  const keys = app.state.shell.sendWithCtrlEnter ? 'Ctrl+Enter' : 'Enter';
  const why = hindrance(app.state.shell);
  const stop = html`<button
    class="sendb stop"
    type="button"
    aria-label=${t('Stop')}
    title="${t('Stop')} (Esc)"
    data-act="stop"
    @click=${() => app.post({ type: 'stop' })}
  >
    ${icon('stop')}
  </button>`;
  return html`<span class="two"
    >${busy ? stop : nothing}<button
      class="sendb"
      type="button"
      aria-label=${label}
      title=${why || `${label} (${keys})`}
      aria-disabled=${!written || why !== ''}
      data-act="send"
      @click=${send}
    >
      ${icon('send')}
    </button></span
  >`;
}

function modeButton(app: App): Piece {
  const { modes } = app.state.shell;
  if (!modes) return nothing;
  const warn = modes.currentModeId === BYPASS;
  const open = app.ui.menu === 'mode';
  const toggle = () => {
    app.ui.menu = open ? null : 'mode';
    app.redraw();
  };
  return html`<button
    class="tb mode ${modeColour(modes.currentModeId)}"
    type="button"
    aria-haspopup="menu"
    aria-expanded=${open}
    aria-label=${t('Mode: {0}', modeName(modes))}
    title=${t('Mode (Alt+M)')}
    data-act="mode"
    data-mode=${modes.currentModeId}
    @click=${toggle}
  >
    ${warn ? icon('warn') : nothing}<span class="lbl">${modeName(modes)}</span>${icon('down', 'chev2')}
  </button>`;
}

function modelButton(app: App): Piece {
  const { connection } = app.state.shell;
  const name = connection?.demonstration
    ? t('Demonstration')
    : connection?.ready
      ? connection.model
      : undefined;
  if (!name) return nothing;
  return html`<button
    class="tb"
    type="button"
    title=${t('Choose the model in the settings')}
    aria-label=${t('Model: {0}', name)}
    data-act="model"
    @click=${() => app.post({ type: 'command', command: 'sidelight.chooseModel' })}
  >
    <span class="lbl">${name}</span>${icon('down', 'chev2')}
  </button>`;
}

export interface PromptEvents {
  input: (event: Event) => void;
  keydown: (event: KeyboardEvent) => void;
  paste: (event: ClipboardEvent) => void;
  focus: () => void;
  blur: () => void;
}

function placeholder(app: App): string {
  if (app.state.shell.running) return t('Add to what comes next');
  return app.state.shell.connection?.demonstration ? t('Try: fix the failing test') : t('Describe a change');
}

export function composer(app: App, events: PromptEvents, send: () => void, written: boolean): TemplateResult {
  const bypass = app.state.shell.modes?.currentModeId === BYPASS;
  return html`<div class=${bypass ? 'composer bypass' : 'composer'}>
    ${chips(app)}<textarea
      id="prompt"
      rows="2"
      aria-label=${t('Prompt')}
      placeholder=${placeholder(app)}
      spellcheck="true"
      data-prompt
      @input=${events.input}
      @keydown=${events.keydown}
      @paste=${events.paste}
      @focus=${events.focus}
      @blur=${events.blur}
    ></textarea>
    <div class="cbar">
      ${iconButton('plus', t('Add context'), 'addContext', () => app.post({ type: 'addContext' }))}${modeButton(app)}${modelButton(
        app,
      )}<span class="spacer"></span>${sendButtons(app, send, written)}
    </div>
    ${app.ui.menu === 'mode' ? modeMenu(app) : nothing}
  </div>`;
}

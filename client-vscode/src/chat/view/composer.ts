/** Where prompts are written: what goes along, the text, the mode, stop and send. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { Chip } from '../../state';
import { type App, hindrance, type Menu, pictures, setPictures } from './app';
import { type Completion, LIST } from './complete';
import { icon } from './icons';
import { count, t } from './l10n';
import { BYPASS, modeColour, modeName } from './modeMenu';
import { modelName, popover } from './popovers';
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
  const images = pictures(app);
  const pasted = images.map((image, index) =>
    removable({ id: image.name, kind: 'image', name: image.name }, () => {
      setPictures(
        app,
        images.filter((_, other) => other !== index),
      );
      app.focusPrompt();
    }),
  );
  const known = app.state.shell.chips.map((chip) => {
    if (chip.id === 'selection') return selectionChip(app, chip);
    return removable(chip, () => {
      app.post({ type: 'removeChip', id: chip.id });
      app.focusPrompt();
    });
  });
  return known.length + pasted.length ? html`<div class="chips">${known}${pasted}</div>` : nothing;
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
    >${busy ? [pauseButton(app), stop] : nothing}<button
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

/** Between two steps a turn can wait; what runs ends first. */
function pauseButton(app: App): TemplateResult {
  const { paused } = app.state.shell;
  const label = paused ? t('Go on') : t('Pause before the next step');
  return iconButton(paused ? 'play' : 'pause', label, 'pause', () =>
    app.post({ type: 'pause', on: !paused }),
  );
}

/** A button of the bar that opens a popover. */
function opener(
  app: App,
  menu: Menu,
  names: { label: string; title: string; words: string; classes?: string; lead?: Piece },
): TemplateResult {
  const open = app.ui.menu === menu;
  return html`<button
    class="tb ${menu} ${names.classes ?? ''}"
    type="button"
    aria-haspopup="menu"
    aria-expanded=${open}
    aria-label=${names.label}
    title=${names.title}
    data-act=${menu}
    @click=${() => app.menu(open ? null : menu, true)}
  >
    ${names.lead ?? nothing}<span class="lbl">${names.words}</span>${icon('down', 'chev2')}
  </button>`;
}

function modeButton(app: App): Piece {
  const { modes } = app.state.shell;
  if (!modes) return nothing;
  const words = modeName(modes);
  return opener(app, 'mode', {
    label: t('Mode: {0}', words),
    title: t('Mode (Alt+M)'),
    words,
    classes: modeColour(modes.currentModeId),
    lead: modes.currentModeId === BYPASS ? icon('warn') : nothing,
  });
}

function modelButton(app: App): Piece {
  const words = modelName(app.state.shell);
  if (!words) return nothing;
  return opener(app, 'model', { label: t('Model: {0}', words), title: t('Choose the model'), words });
}

export interface PromptEvents {
  input: (event: Event) => void;
  keydown: (event: KeyboardEvent) => void;
  paste: (event: ClipboardEvent) => void;
  composed: () => void;
  dragover: (event: DragEvent) => void;
  drop: (event: DragEvent) => void;
  readonly completion: Completion;
  focus: () => void;
  blur: () => void;
}

function placeholder(app: App): string {
  if (app.state.shell.running) return t('Add to what comes next');
  return app.state.shell.connection?.demonstration
    ? t('Try: fix the failing test')
    : t('Describe a change, @ adds context');
}

export function composer(app: App, events: PromptEvents, send: () => void, written: boolean): TemplateResult {
  const bypass = app.state.shell.modes?.currentModeId === BYPASS;
  const { completion } = events;
  return html`<div
    class=${bypass ? 'composer bypass' : 'composer'}
    @dragover=${events.dragover}
    @drop=${events.drop}
  >
    ${chips(app)}<textarea
      id="prompt"
      rows="2"
      aria-label=${t('Prompt')}
      placeholder=${placeholder(app)}
      spellcheck="true"
      aria-autocomplete="list"
      aria-controls=${completion.open ? LIST : nothing}
      aria-activedescendant=${completion.active ?? nothing}
      data-prompt
      @compositionend=${events.composed}
      @click=${events.composed}
      @input=${events.input}
      @keydown=${events.keydown}
      @paste=${events.paste}
      @focus=${events.focus}
      @blur=${events.blur}
    ></textarea>
    <div class="cbar">
      ${iconButton('plus', t('Add context'), 'addContext', () => app.mention())}${modeButton(app)}${modelButton(
        app,
      )}<span class="spacer"></span>${sendButtons(app, send, written)}
    </div>
    ${completion.open ? completion.view() : popover(app)}
  </div>`;
}

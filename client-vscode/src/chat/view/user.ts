/** The person's own prompt: whole, folded when it is long, with what went along. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { Chip, UserItem } from '../../state';
import type { App } from './app';
import { icon } from './icons';
import { t } from './l10n';
import { chipIcon, chipLabel, iconButton } from './parts';

const MOST_LINES = 12;

function sentChip(app: App, chip: Chip): TemplateResult {
  const { path } = chip;
  const inside = html`${chipIcon(chip)}<span class="ell"><bdi>${chipLabel(chip)}</bdi></span>`;
  if (path === undefined || chip.kind === 'folder') return html`<span class="chip">${inside}</span>`;
  const open = () => {
    const line = chip.range?.[0];
    app.post(line === undefined ? { type: 'openFile', path } : { type: 'openFile', path, line });
  };
  return html`<button class="chip" type="button" title=${path} data-act="openFile" @click=${open}>
    ${inside}
  </button>`;
}

export function userArticle(app: App, item: UserItem): TemplateResult {
  const lines = item.text.split('\n');
  const long = lines.length > MOST_LINES;
  const open = app.isOpen(item.id, false);
  const shown = long && !open ? lines.slice(0, MOST_LINES).join('\n') : item.text;
  const fold = html`<button
    class="row fold"
    type="button"
    aria-expanded=${open}
    @click=${() => app.toggle(item.id, !open)}
  >
    <span class="muted small"
      >${open ? t('Show less') : t('Show {0} more lines', lines.length - MOST_LINES)}</span
    >${icon('right', 'chev')}
  </button>`;
  const chips = html`<div class="chips">${item.chips.map((chip) => sentChip(app, chip))}</div>`;
  return html`<p .textContent=${shown}></p>
    ${long ? fold : nothing}${item.chips.length ? chips : nothing}
    <div class="msg-acts" role="toolbar" aria-label=${t('This prompt')}>
      ${iconButton('copy', t('Copy'), 'copy', () => app.copy(item.text))}
    </div>`;
}

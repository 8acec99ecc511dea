/** Small pieces that several components use. */

import { html, nothing, type TemplateResult } from 'lit-html';

import type { DiffLine, FileDiff } from '../../protocol';
import type { Chip } from '../../state';
import type { App } from './app';
import { split, within } from './format';
import { icon, type IconName } from './icons';
import { t } from './l10n';

export type Piece = TemplateResult | typeof nothing;

/** A square button with an icon; its name is told and shown as a hint. */
export function iconButton(name: IconName, label: string, act: string, run: () => void): TemplateResult {
  return html`<button
    class="ib"
    type="button"
    aria-label=${label}
    title=${label}
    data-act=${act}
    @click=${run}
  >
    ${icon(name)}
  </button>`;
}

/** A text button of a card's foot, a strip or a notice. */
export function quietButton(label: string, act: string, run: () => void, plain = false): TemplateResult {
  return html`<button class=${plain ? 'qb plain' : 'qb'} type="button" data-act=${act} @click=${run}>
    ${label}
  </button>`;
}

/** A path with its name first: what is cut off at the edge is the folder. */
export function pathLabel(app: App, path: string): TemplateResult {
  const shown = within(app.state.shell.cwd, path);
  const { base, folder } = split(shown);
  return html`<span class="path" title=${shown}
    ><span class="base">${base}</span>${folder ? html` <span class="dir">${folder}</span>` : nothing}</span
  >`;
}

/** Counts of lines, `+6 −2`. */
export function plusMinus(added: number, removed: number, classes = ''): TemplateResult {
  const plus = html`<span class="add">+${added}<span class="sr"> ${t('lines added')}</span></span>`;
  const minus = html`<span class="del">−${removed}<span class="sr"> ${t('lines removed')}</span></span>`;
  return html`<span class="num pm ${classes}"
    >${added || !removed ? plus : nothing}${removed ? minus : nothing}</span
  >`;
}

const CLASSES = { '+': 'p', '-': 'm', ' ': '' } as const;
const SIGNS = { '+': '+', '-': '−', ' ': '' } as const;

function diffRow(line: DiffLine): TemplateResult {
  return html`<tr class=${CLASSES[line.sign]}>
    <td class="n">${line.sign === '-' ? line.old : (line.new ?? line.old)}</td>
    <td class="s">${SIGNS[line.sign]}</td>
    <td class="t" .textContent=${line.text}></td>
  </tr>`;
}

/** Changed lines with numbers and signs; more than `most` are folded behind a button. */
export function miniDiff(app: App, id: string, diff: FileDiff, most: number): TemplateResult {
  const all = app.isOpen(id, false) || diff.lines.length <= most + 2;
  const lines = all ? diff.lines : diff.lines.slice(0, most);
  const left = diff.lines.length - lines.length;
  const more = html`<button class="more" type="button" data-act="more" @click=${() => app.toggle(id, true)}>
    ${t('Show {0} more lines', left)}
  </button>`;
  const name = t('Changes in {0}', within(app.state.shell.cwd, diff.path));
  return html`<div class="mdiff" tabindex="0" role="region" aria-label=${name}>
      <table role="presentation">
        <tbody>
          ${lines.map(diffRow)}
        </tbody>
      </table>
    </div>
    ${left > 0 ? more : nothing}`;
}

const CHIP_ICONS: Record<Chip['kind'], IconName> = {
  selection: 'sel',
  file: 'at',
  folder: 'folder',
  image: 'image',
};

export function chipIcon(chip: Chip): TemplateResult {
  return icon(CHIP_ICONS[chip.kind]);
}

export function chipLabel(chip: Chip): string {
  return chip.range ? `${chip.name}:${chip.range[0]}-${chip.range[1]}` : chip.name;
}

/** A time that runs: the ticker writes it, so nothing else is drawn again for it. */
export function runningTime(since: number): TemplateResult {
  return html`<span class="num" data-since=${since}></span>`;
}

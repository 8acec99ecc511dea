/** A code block: name, copy, and the code, which scrolls sideways and never wraps. */

import { html, nothing, type TemplateResult } from 'lit-html';
import { unsafeHTML } from 'lit-html/directives/unsafe-html.js';

import type { App } from './app';
import { highlight } from './highlight';
import { t } from './l10n';
import type { CodeBlock } from './markdown';
import { iconButton, pathLabel } from './parts';

const coloured = new WeakMap<CodeBlock, string>();
const waiting = new Set<CodeBlock>();

/** Colours a finished block when the browser has time, then draws once more. */
function later(app: App, block: CodeBlock): void {
  if (waiting.has(block)) return;
  waiting.add(block);
  requestIdleCallback(
    () => {
      waiting.delete(block);
      const text = highlight(block.code, block.language);
      if (text === undefined) return;
      coloured.set(block, text);
      app.ui.version += 1;
      app.redraw();
    },
    { timeout: 500 },
  );
}

export function codeBlock(app: App, block: CodeBlock, growing: boolean): TemplateResult {
  const text = coloured.get(block);
  if (text === undefined && !growing && block.language) later(app, block);
  const name = block.file || block.language;
  const label = block.file ? pathLabel(app, block.file) : html`<span>${block.language || t('Code')}</span>`;
  const caret = html`<span class="caret" aria-hidden="true"></span>`;
  return html`<figure class="code">
    <figcaption class="code-head">
      ${label}<span class="spacer"></span
      >${iconButton('copy', t('Copy'), 'copyCode', () => app.copy(block.code))}
    </figcaption>
    <pre tabindex="0" role="region" aria-label=${t('Code, {0}', name)}><code>${
      text === undefined ? block.code : unsafeHTML(text)
    }</code>${growing ? caret : nothing}</pre>
  </figure>`;
}

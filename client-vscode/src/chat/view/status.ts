/** The line under the composer: how full the context is, what it cost, which model answers. */

import { html, nothing, svg, type TemplateResult } from 'lit-html';

import type { Shell, Usage } from '../../state';
import type { App } from './app';
import { money, thousands } from './format';
import { t } from './l10n';

const ROUND = 2 * Math.PI * 5;

function ring(share: number): TemplateResult {
  const filled = (ROUND * Math.min(1, Math.max(0, share))).toFixed(1);
  return html`<svg class="ring" viewBox="0 0 14 14" aria-hidden="true">
    ${svg`<circle class="bg" cx="7" cy="7" r="5"/><circle class="fg" cx="7" cy="7" r="5" stroke-dasharray="${filled} ${ROUND.toFixed(1)}"/>`}
  </svg>`;
}

function context(app: App, usage: Usage): TemplateResult {
  const share = usage.size > 0 ? usage.used / usage.size : 0;
  const words = t('{0}% of {1}', Math.round(share * 100), thousands(usage.size));
  const hint = t('{0} of {1} tokens of the context are used', thousands(usage.used), thousands(usage.size));
  const open = app.ui.menu === 'context';
  return html`<button
    class="tb ctx"
    type="button"
    aria-haspopup="dialog"
    aria-expanded=${open}
    title=${hint}
    data-act="context"
    data-context
    @click=${() => app.menu(open ? null : 'context', true)}
  >
    ${ring(share)}<span class="num">${words}</span
    ><span class="sr">, ${t('show what fills the context')}</span>
  </button>`;
}

const WITHOUT = {
  running: () => t('no model'),
  starting: () => t('starting'),
  stopped: () => t('stopped'),
};

/** Where the model comes from, as the composer names it already; without one, what is the matter. */
function origin({ connection, server }: Shell): string {
  if (connection?.ready !== true || server.state !== 'running') return WITHOUT[server.state]();
  return connection.source ?? '';
}

export function statusLine(app: App): TemplateResult {
  const { shell } = app.state;
  const { usage } = shell;
  const cost = (amount: number) =>
    html`<span class="num cost">${money(amount, usage?.currency ?? 'USD')}</span>`;
  const unpriced = html`<span class="cost" data-price-unknown>${t('price unknown')}</span>`;
  return html`<div class="status" data-status-line>
    ${usage ? context(app, usage) : nothing}${usage?.priceUnknown === true ? unpriced : usage?.cost === undefined ? nothing : cost(usage.cost)}<span
      class="line ell"
      title=${shell.connection?.model ?? ''}
      >${origin(shell)}</span
    >
  </div>`;
}

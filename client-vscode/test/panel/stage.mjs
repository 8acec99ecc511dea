// What the suites of the panel share: one browser, a panel that shows a state, what it posts.

import assert from 'node:assert/strict';

import { launch, openPanel, post, settle } from './harness.mjs';

export function stage({ before, after, NOW, difference }) {
  let browser;
  before(async () => (browser = await launch()));
  after(() => browser.close());

  /** A panel that shows a scene; closed when the test ends, which fails on any error of the page. */
  async function shown(context, state, size = {}) {
    const view = await openPanel(browser, { now: NOW, ...size });
    context.after(async () => {
      const violations = await view.page.evaluate(() => window.violations);
      await view.close();
      assert.deepEqual([...view.problems, ...violations], []);
    });
    await post(view.page, { type: 'init', state, strings: {}, locale: 'en' });
    await settle(view.page);
    return view.page;
  }

  async function patch(page, from, to) {
    await post(page, { type: 'patch', patch: difference(from, to) });
    await settle(page);
  }

  const posted = (page, type) =>
    page.evaluate((wanted) => window.posted.filter((message) => message.type === wanted), type);
  const focused = (page) => page.evaluate(() => document.activeElement?.id ?? '');
  return { shown, patch, posted, focused };
}

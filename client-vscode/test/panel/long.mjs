// A conversation of 2,000 messages and 5,000 tool cards: what is drawn is bounded, nothing jumps, nothing is lost.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { load, post, settle } from './harness.mjs';
import { stage } from './stage.mjs';

const { SCENES, NOW } = await load('test/panel/states.ts');
const { difference } = await load('src/patch.ts');
const { shown, patch } = stage({ before, after, NOW, difference });

const TURNS = 1000;
const CALLS = 5;
/** Elements of a page that shows this; all of it would be more than 150,000. */
const MOST_ELEMENTS = 12_000;

const tool = (id) => ({
  kind: 'tool',
  id,
  tool: 'Bash',
  family: 'run',
  status: 'done',
  target: `npm test -- ${id}`,
  output: `${id}\n`.repeat(20),
  cut: 0,
  diffs: [],
  startedAt: NOW,
  ms: 1500,
});

function turn(number) {
  const text = `Answer ${number}. ${'It says this at some length. '.repeat(number % 9)}\n\n- one\n- two\n\n\`\`\`ts\nconst n = ${number};\n\`\`\``;
  return [
    { kind: 'user', id: `u${number}`, text: `Prompt ${number}\n${'more\n'.repeat(number % 7)}`, chips: [] },
    ...Array.from({ length: CALLS }, (_, call) => tool(`t${number}-${call}`)),
    { kind: 'text', id: `x${number}`, text, message: `m${number}`, streaming: false },
    { kind: 'foot', id: `f${number}`, running: false, startedAt: NOW, ms: 9000, outcome: 'done' },
  ];
}

const items = Array.from({ length: TURNS }, (_, number) => turn(number)).flat();
const idle = { ...SCENES['6-changes'].state, items };
const log = (page) => page.locator('[data-log]');
const size = { height: 700 };

/** What is in view: the first article, its place, where it begins, and whether anything is drawn in the middle. */
function view(page) {
  return page.evaluate(() => {
    const box = document.querySelector('[data-log]').getBoundingClientRect();
    const all = [...document.querySelectorAll('article')];
    const first = all.find((article) => article.getBoundingClientRect().bottom > box.top);
    const middle = document.elementFromPoint(box.left + 40, box.top + box.height / 2);
    return {
      id: first?.dataset.id,
      top: first ? first.getBoundingClientRect().top - box.top : Number.NaN,
      blank: !middle?.closest('article') && Boolean(middle?.closest('[data-drawn="false"]')),
      elements: document.querySelectorAll('*').length,
      places: all.map((article) => Number(article.getAttribute('aria-posinset'))),
    };
  });
}

const place = (page, id) =>
  page.evaluate((wanted) => {
    const article = document.querySelector(`article[data-id="${wanted}"]`);
    const box = document.querySelector('[data-log]').getBoundingClientRect();
    return article && article.getBoundingClientRect().top - box.top;
  }, id);

const ascending = (places) => places.every((one, index) => index === 0 || one > places[index - 1]);

test('only what is near the view is drawn, in order, with its place in the whole', async (context) => {
  const page = await shown(context, idle, size);
  const { elements, places } = await view(page);
  assert.ok(elements < MOST_ELEMENTS, `${elements} elements`);
  assert.ok(ascending(places));
  assert.equal(places.at(-1), 2 * TURNS);
  assert.equal(await page.locator('article').last().getAttribute('aria-setsize'), String(2 * TURNS));
});

test('scrolling back jumps nowhere: what is read moves as far as the wheel', async (context) => {
  const page = await shown(context, idle, size);
  await log(page).hover();
  for (let step = 0; step < 60; step += 1) {
    const was = await view(page);
    await page.mouse.wheel(0, -300);
    await settle(page);
    const now = await view(page);
    assert.equal(now.blank, false);
    assert.ok(now.elements < MOST_ELEMENTS, `${now.elements} elements`);
    assert.ok(ascending(now.places));
    const moved = (await place(page, was.id)) - was.top;
    assert.ok(Math.abs(moved - 300) <= 2, `step ${step}: moved by ${moved}`);
  }
});

test('a jump into the middle shows what is there', async (context) => {
  const page = await shown(context, idle, size);
  for (const share of [0.5, 0.1, 0.9, 0]) {
    await log(page).evaluate((element, part) => (element.scrollTop = element.scrollHeight * part), share);
    await settle(page);
    const now = await view(page);
    assert.equal(now.blank, false);
    assert.ok(now.elements < MOST_ELEMENTS, `${now.elements} elements`);
  }
  assert.equal((await view(page)).id, 'u0');
});

const running = { ...idle, shell: { ...idle.shell, running: true } };
const live = (text) => ({ kind: 'text', id: 'new', text, message: 'new', streaming: true });
const foot = { kind: 'foot', id: 'fnew', running: true, startedAt: NOW };
const streaming = (text, calls = 0) => ({
  ...running,
  items: [
    ...items,
    turn(TURNS)[0],
    ...Array.from({ length: calls }, (_, call) => tool(`n${call}`)),
    live(text),
    foot,
  ],
});

test('while it streams the end is followed, and the newest pages alone change', async (context) => {
  const page = await shown(context, streaming('begin'), size);
  await page.evaluate(() => {
    window.changed = new Set();
    new MutationObserver((records) => {
      for (const { target } of records) {
        const element = target.nodeType === 1 ? target : target.parentElement;
        window.changed.add(element?.closest('[data-page]')?.dataset.page);
      }
    }).observe(document.querySelector('.feed'), { subtree: true, childList: true, characterData: true });
  });
  let before = streaming('begin');
  for (let step = 1; step <= 40; step += 1) {
    const now = streaming(`begin${' and more words'.repeat(step * 3)}`);
    await post(page, { type: 'patch', patch: difference(before, now) });
    before = now;
  }
  await settle(page);
  const gap = await log(page).evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
  assert.ok(gap <= 1, `${gap} px below`);
  const last = await page.locator('[data-page]').last().getAttribute('data-page');
  assert.deepEqual(await page.evaluate(() => [...window.changed]), [last]);
});

test('who reads further up stays there while it streams and cards come', async (context) => {
  const page = await shown(context, streaming('begin'), size);
  await log(page).evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
  await settle(page);
  const was = await view(page);
  let before = streaming('begin');
  for (let step = 1; step <= 20; step += 1) {
    const now = streaming('begin'.repeat(step), step * 5);
    await patch(page, before, now);
    before = now;
  }
  assert.ok(Math.abs((await place(page, was.id)) - was.top) <= 1);
  await page.locator('[data-act="latest"]').click();
  await settle(page);
  assert.equal(await page.locator('[data-foot="running"]').isVisible(), true);
});

test('Home and End go to the first and last message, and the focused one is never taken away', async (context) => {
  const page = await shown(context, idle, size);
  const focused = () => page.evaluate(() => document.activeElement.dataset.id);
  await page.locator('article').last().focus();
  await page.keyboard.press('PageUp');
  assert.equal(await focused(), `u${TURNS - 1}`);
  await page.keyboard.press('Home');
  await settle(page);
  assert.equal(await focused(), 'u0');
  await page.keyboard.press('PageDown');
  await page.keyboard.press('PageDown');
  assert.equal(await focused(), 'u1');
  await log(page).evaluate((element) => (element.scrollTop = element.scrollHeight / 2));
  await settle(page);
  await settle(page);
  assert.equal(await focused(), 'u1');
  await page.keyboard.press('End');
  await settle(page);
  assert.equal(await focused(), `a:t${TURNS - 1}-0`);
});

test('the place where one read is found again after the view was thrown away', async (context) => {
  const page = await shown(context, idle, size);
  await log(page).evaluate((element) => (element.scrollTop = element.scrollHeight * 0.37));
  await settle(page);
  await log(page).hover();
  await page.mouse.wheel(0, -150);
  await settle(page);
  const was = await view(page);
  await page.reload();
  await post(page, { type: 'init', state: idle, strings: {}, locale: 'en' });
  await settle(page);
  const now = await view(page);
  assert.equal(now.id, was.id);
  assert.ok(Math.abs(now.top - was.top) <= 2, `${now.top} and ${was.top}`);
});

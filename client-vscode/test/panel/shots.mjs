// Pictures of the eight fixed states in dark and light, and checks of all states: axe-core, overflow, errors, policy.
// node test/panel/shots.mjs [out] [state]; ends with 1 when a check fails. Needs the built bundle. With ALL_SHOTS set
// every page is pictured, also those that are only checked.

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { asked, launch, load, openPanel, post, settle, strings, THEMES } from './harness.mjs';

const [out = 'test-results/panel', only] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The first is what is left of the usual width where everything is enlarged by half. */
const WIDTHS = [240, 360, 480];

const { SCENES, OTHERS, NOW } = await load('test/panel/states.ts');
const { difference } = await load('src/patch.ts');

async function play(page, scene) {
  const locale = scene.locale ?? 'en';
  await post(page, { type: 'init', state: scene.state, strings: strings(locale), locale });
  await settle(page);
  let before = scene.state;
  for (const after of scene.then ?? []) {
    await post(page, { type: 'patch', patch: difference(before, after) });
    await settle(page);
    before = after;
  }
  for (const selector of scene.click ?? []) await page.locator(selector).first().click();
  if (scene.type) await page.locator('[data-prompt]').fill(scene.type);
  if (scene.found) await post(page, { type: 'found', serial: await asked(page), found: scene.found });
  await settle(page);
  if (scene.press) await page.keyboard.press(scene.press);
  await page.mouse.move(0, 0);
  await settle(page);
}

/** Elements that stick out of the view sideways; what scrolls or is cut off by itself does not. */
function sideways() {
  const inside = 'pre, .mdiff, .sr, .path, .ell, .lbl, .tablebox';
  const outside = [...document.querySelectorAll('.frame *')].filter((element) => {
    const { left, right, width } = element.getBoundingClientRect();
    return width > 2 && (right > innerWidth + 1 || left < -1) && !element.parentElement.closest(inside);
  });
  const page = document.documentElement.scrollWidth > innerWidth ? ['page'] : [];
  return [
    ...page,
    ...outside.filter((element) => getComputedStyle(element).clipPath === 'none').map((one) => one.className),
  ];
}

async function findings(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(
    async (rules) => (await axe.run(document, { runOnly: rules })).violations,
    RULES,
  );
  return found.flatMap(({ id, impact, nodes }) =>
    nodes.map((node) => `${impact} ${id}: ${node.target.join(' ')} ${node.any[0]?.message ?? ''}`),
  );
}

async function check(browser, name, scene, theme, width, picture) {
  const view = await openPanel(browser, { theme, width, height: scene.height ?? 720, now: NOW });
  try {
    await play(view.page, scene);
    if (picture) await view.page.screenshot({ path: picture, animations: 'disabled', caret: 'hide' });
    const over = (await view.page.evaluate(sideways)).map((what) => `overflow: ${what}`);
    const broken = await view.page.evaluate(() => window.violations);
    const all = [...over, ...broken, ...view.problems, ...(await findings(view.page))];
    return [...new Set(all)].map((problem) => `${name} ${theme} ${width}: ${problem}`);
  } finally {
    await view.close();
  }
}

mkdirSync(out, { recursive: true });
const browser = await launch();
const problems = [];
let pages = 0;
try {
  for (const [name, scene] of Object.entries({ ...SCENES, ...OTHERS })) {
    if (only !== undefined && only !== name) continue;
    for (const theme of Object.keys(THEMES)) {
      for (const width of theme.startsWith('hc') ? [360] : WIDTHS) {
        const kept = name in SCENES && width === 360 && !theme.startsWith('hc');
        const picture =
          kept || process.env['ALL_SHOTS']
            ? path.join(out, `${name}-${theme}${kept ? '' : `-${width}`}.png`)
            : '';
        problems.push(...(await check(browser, name, scene, theme, width, picture)));
        pages += 1;
      }
    }
  }
} finally {
  await browser.close();
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${pages} pages, ${problems.length} problems, pictures in ${out}\n`);
process.exitCode = problems.length ? 1 : 0;

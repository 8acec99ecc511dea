// The panel's own bundle in a plain browser: a page with the webview's policy, a host that records, the real messages.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, '..', '..');
const ORIGIN = 'http://panel.test';
const NONCE = 'dGhlIHBhbmVsJ3MgdGVzdA==';

export const THEMES = {
  dark: 'vscode-dark',
  light: 'vscode-light',
  hc: 'vscode-high-contrast',
  'hc-light': 'vscode-high-contrast vscode-high-contrast-light',
};

/** A TypeScript module of the tests or the product, for use in Node. */
export async function load(file) {
  const options = { bundle: true, write: false, format: 'esm', platform: 'node', logLevel: 'error' };
  const { outputFiles } = await build({ ...options, entryPoints: [path.join(root, file)] });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

export function strings(locale) {
  if (locale !== 'zh-cn') return {};
  return JSON.parse(readFileSync(path.join(root, 'l10n', 'bundle.l10n.zh-cn.json'), 'utf8'));
}

function html(theme) {
  const policy = `default-src 'none'; script-src 'nonce-${NONCE}'; style-src ${ORIGIN}; img-src data:`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="/theme.css"><link rel="stylesheet" href="/panel.css"><title>Sidelight</title></head>
<body class="${THEMES[theme]}"><div id="root"></div><script nonce="${NONCE}" src="/panel.js"></script></body></html>`;
}

/** What stands in for the editor's side of a webview: it records what is posted and keeps the view's state. */
function host() {
  let kept = JSON.parse(sessionStorage.getItem('kept') ?? 'null') ?? undefined;
  const posted = [];
  window.posted = posted;
  window.violations = [];
  document.addEventListener('securitypolicyviolation', (event) =>
    window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
  );
  window.acquireVsCodeApi = () => ({
    postMessage: (message) => posted.push(message),
    getState: () => kept,
    setState: (state) => {
      kept = state;
      sessionStorage.setItem('kept', JSON.stringify(state));
    },
  });
}

export function launch() {
  const flags = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
  if (process.getuid?.() === 0) flags.push('--no-sandbox'); // Chromium refuses its sandbox to root
  return chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: flags });
}

/** A page with the panel in it; `problems` collects errors of the page and breaches of its policy. */
export async function openPanel(browser, { theme = 'dark', width = 360, height = 720, now } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  const files = {
    '/panel.js': [path.join(root, 'dist', 'panel.js'), 'text/javascript'],
    '/panel.css': [path.join(root, 'dist', 'panel.css'), 'text/css'],
    '/theme.css': [path.join(here, 'theme.css'), 'text/css'],
  };
  await page.route(`${ORIGIN}/**`, (route) => {
    const [file, contentType] = files[new URL(route.request().url()).pathname] ?? [];
    if (file) return route.fulfill({ path: file, contentType });
    return route.fulfill({ body: html(theme), contentType: 'text/html' });
  });
  await page.addInitScript(host);
  if (now !== undefined) await page.clock.setFixedTime(now);
  await page.goto(`${ORIGIN}/`);
  return { page, problems, close: () => context.close() };
}

export function post(page, message) {
  return page.evaluate((data) => window.postMessage(data, '*'), message);
}

/** All that was drawn is drawn: messages arrive as tasks, drawing waits for the next frame, colour for idle time. */
export function settle(page) {
  return page.evaluate(
    () =>
      new Promise((done) => {
        const frames = (left) => (left ? requestAnimationFrame(() => frames(left - 1)) : done());
        setTimeout(() => requestIdleCallback(() => frames(3), { timeout: 1000 }), 60);
      }),
  );
}

/** The number of the last search that the panel asked for. */
export function asked(page) {
  return page.evaluate(() => window.posted.findLast((message) => message.type === 'find')?.serial ?? 0);
}

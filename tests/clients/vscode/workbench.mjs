// A person at a real VS Code workbench: one Chromium page and what one does in it. Every wait is bounded.

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

import { until } from './processes.mjs';
import { THEMES } from './server.mjs';

export const READY_MS = 60_000;
const WAIT_MS = 15_000;
const TRY_MS = 2_000;

const SIZE = { width: 1280, height: 800 };

const CHROMIUM_FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--no-first-run',
  ...(process.getuid() === 0 ? ['--no-sandbox'] : []), // Chromium refuses its sandbox to root
];

/** Start the headless browser; the caller closes it. `parts` is what `installation()` returned. */
export function launchBrowser(parts) {
  const { chromium } = createRequire(join(parts.home, 'package.json'))('playwright-core');
  return chromium.launch({
    executablePath: parts.chromium,
    args: CHROMIUM_FLAGS,
    handleSIGINT: false, // the runner ends everything in its own order
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

export class Workbench {
  /** `readyMark` is the text of the status bar by which the extension says that it can work. */
  constructor(server, browser, { readyMark = 'Sidelight: ready', size = SIZE } = {}) {
    this.server = server;
    this.browser = browser;
    this.readyMark = readyMark;
    this.size = size;
    this.console = [];
  }

  /** Open a folder in a new page, in place of the page before, and wait until it is ready. */
  async open(workspace) {
    await this.newPage();
    await this.#load(() => this.page.goto(this.server.address(workspace)));
  }

  /** An empty page in place of the page before. */
  async newPage() {
    await this.page?.context().close();
    const context = await this.browser.newContext({ viewport: this.size, locale: 'en-US' });
    context.setDefaultTimeout(WAIT_MS);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    this.page = await context.newPage();
    this.page.on('console', (message) => this.console.push(message.text()));
    // The browser's own question whether to leave a page with unsaved files: yes.
    this.page.on('dialog', (dialog) => dialog.accept());
  }

  /** Reload the page: a new extension host and a new language server on the same folders. */
  async reload(mark = this.readyMark) {
    await this.#load(() => this.page.reload(), mark);
  }

  async #load(go, mark = this.readyMark) {
    await go();
    await this.page.locator('.monaco-workbench').waitFor({ timeout: READY_MS });
    await this.statusBarItem(mark).waitFor({ timeout: READY_MS });
  }

  /** Change the colour theme in the running workbench, as a person does: dark, light, hc, hc-light. */
  async setTheme(name) {
    const { label, mark } = THEMES[name];
    await this.command('Preferences: Color Theme');
    await this.choose(label);
    await this.page.locator(`.monaco-workbench.${mark}`).waitFor();
    await this.quickInput.waitFor({ state: 'hidden' });
  }

  // Palette and quick picks

  get quickInput() {
    return this.page.locator('.quick-input-widget');
  }

  quickPickRow(label) {
    const name = this.page.locator('.label-name', { hasText: exactly(label) });
    return this.quickInput.locator('.quick-input-list .monaco-list-row').filter({ has: name });
  }

  /** Run a command by its full title, such as "View: Close All Editors". */
  async command(title) {
    await this.page.keyboard.press('F1');
    await this.#type(`>${title}`);
    await this.quickPickRow(title).first().click();
  }

  /** Choose a row of the open quick pick by its label, after narrowing the list to it. */
  async choose(label) {
    await this.#type(label);
    await this.quickPickRow(label).first().click();
  }

  async #type(text) {
    await this.quickInput.waitFor();
    await this.quickInput.locator('input[type=text]').fill(text);
  }

  // The editor

  /** Open a file of the workspace by its relative path, at a line where one is given. */
  async openFile(path, line) {
    // Quick open closes when something else takes the focus at that moment: a person presses again too.
    const wanted = line === undefined ? path : `${path}:${line}`;
    await until(`quick open finds ${path}`, async () => {
      await this.page.keyboard.press('Escape');
      await this.page.keyboard.press('Control+p');
      try {
        await this.quickInput.locator('input[type=text]').fill(wanted, { timeout: TRY_MS });
        await this.quickPickRow(basename(path)).first().click({ timeout: TRY_MS });
        return true;
      } catch {
        return false;
      }
    });
    await this.page.locator(`.tab.active[data-resource-name="${basename(path)}"]`).waitFor();
    await this.activeEditor.locator('.view-line').first().waitFor();
  }

  get activeEditor() {
    return this.page.locator('.editor-group-container.active .monaco-editor').first();
  }

  /** Select whole lines of the active editor, counted from 1, the last one included. */
  async selectLines(first, last) {
    await this.page.keyboard.press('Control+g');
    await this.#type(`:${first}`);
    await this.page.keyboard.press('Enter');
    await this.quickInput.waitFor({ state: 'hidden' });
    await this.page.keyboard.press('Home');
    for (let line = first; line <= last; line += 1) await this.page.keyboard.press('Shift+ArrowDown');
  }

  /** Save the active editor; the caller asserts on the file. */
  async save() {
    await this.page.keyboard.press('Control+s');
  }

  /** The lines now on the screen, in screen order. For the whole text look at the file on disk. */
  async visibleLines() {
    const lines = await inScreenOrder(this.activeEditor.locator('.view-lines .view-line'));
    const texts = await Promise.all(lines.map((line) => line.textContent()));
    return texts.map((text) => text.replaceAll('\u00a0', ' '));
  }

  /** The titles of the code lenses on the screen, in screen order. */
  async lensTitles() {
    const lenses = await inScreenOrder(this.page.locator('.codelens-decoration a'));
    return Promise.all(lenses.map((lens) => lens.textContent({ timeout: TRY_MS })));
  }

  /** Click the code lens with this title; `index` counts those alike from the top, from 0. */
  async clickLens(title, index = 0) {
    const alike = this.page.locator('.codelens-decoration a', { hasText: exactly(title) });
    await until(`lens ${title} (${index})`, async () => {
      const lenses = await inScreenOrder(alike); // again each time: an edit draws the lenses anew
      if (lenses.length <= index) return false;
      await lenses[index].click({ timeout: TRY_MS });
      return true;
    });
  }

  get gutterMarks() {
    return this.activeEditor.locator('.dirty-diff-glyph');
  }

  /** Click a change mark in the gutter, counted from the top, and return the peek that opens. */
  async openPeek(index = 0) {
    const peek = this.page.locator('.peekview-widget');
    await until(`peek of gutter mark ${index}`, async () => {
      const marks = await inScreenOrder(this.gutterMarks);
      if (marks.length <= index) return false;
      // Only a click on the coloured bar opens it: the left border, which a locator's click leaves out.
      const { x, y, height } = await marks[index].boundingBox({ timeout: TRY_MS });
      await this.page.mouse.click(x + 1, y + height / 2);
      await peek.waitFor({ timeout: TRY_MS });
      return true;
    });
    return peek;
  }

  get codeActionMenu() {
    return this.page.locator('.action-widget');
  }

  codeAction(title) {
    return this.codeActionMenu.locator('.monaco-list-row', { hasText: title });
  }

  /** Open the code actions at the selection and take the one with this title. */
  async takeCodeAction(title) {
    await until(`code action ${title}`, async () => {
      // A key that comes before the editor has taken up its selection finds nothing to offer.
      if (!(await this.codeActionMenu.isVisible())) await this.page.keyboard.press('Control+.');
      await this.codeAction(title).click({ timeout: TRY_MS });
      return true;
    });
  }

  // Dialogs, notices, status bar

  get dialog() {
    return this.page.locator('.monaco-dialog-box');
  }

  /** Press a button of the modal dialog and wait until the dialog is gone. */
  async answerDialog(button) {
    await this.dialog.getByRole('button', { name: button, exact: true }).click();
    await this.dialog.waitFor({ state: 'hidden' });
  }

  toast(text) {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  /** Press a button of the notice that contains this text. */
  async answerToast(text, button) {
    await this.toast(text).getByRole('button', { name: button, exact: true }).click();
  }

  statusBarItem(text) {
    return this.page.locator('.statusbar-item', { hasText: text }).first();
  }

  // Webviews

  /** What is inside an extension's webview; `extension` is its id, where several are open. */
  webview(extension) {
    return this.page.frameLocator(webviewSelector(extension)).frameLocator('#active-frame');
  }

  /** The findings of axe-core in a webview: rule, impact and the elements, worst first. */
  async accessibilityFindings(extension) {
    const root = this.webview(extension).locator('html');
    const require = createRequire(join(this.server.parts.home, 'package.json'));
    const frame = await (await root.elementHandle()).ownerFrame();
    await frame.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
    const { violations } = await frame.evaluate('axe.run(document)');
    const order = ['critical', 'serious', 'moderate', 'minor'];
    return violations
      .map(({ id, impact, nodes }) => ({ id, impact, elements: nodes.map((node) => node.html) }))
      .sort((one, other) => order.indexOf(one.impact) - order.indexOf(other.impact));
  }

  // Evidence

  /** Save a picture of the whole page, without a blinking cursor or a moving toast. */
  async screenshot(path) {
    mkdirSync(dirname(path), { recursive: true });
    await this.page.screenshot({ path, animations: 'disabled', caret: 'hide' });
    return path;
  }
}

function webviewSelector(extension) {
  const from = extension ? `[src*="extensionId=${extension}"]` : '';
  return `iframe.webview.ready${from}`;
}

/** A pattern for a whole text. Playwright folds white space before it compares. */
function exactly(text) {
  return new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s*$`);
}

/** The visible elements of a locator from top to bottom; the order in the document is another. */
async function inScreenOrder(locator) {
  const all = await locator.all();
  const boxes = await Promise.all(all.map((element) => element.boundingBox({ timeout: TRY_MS })));
  return all
    .map((element, index) => ({ element, box: boxes[index] }))
    .filter(({ box }) => box !== null)
    .sort((one, other) => one.box.y - other.box.y || one.box.x - other.box.x)
    .map(({ element }) => element);
}

// Runs the suites in a real workbench: `--in-host` through VS Code's own API, `--click` as a person does.
// Without either flag both run. `--only TEXT` takes the tests with that text in their name.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { startModel } from './model.mjs';
import { runToExit, until } from './processes.mjs';
import { loadTests, runTests } from './runner.mjs';
import { Server } from './server.mjs';
import { launchBrowser, READY_MS, Workbench } from './workbench.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, '../../..');
const IN_HOST_MS = 300_000;
const LOG_TAIL_LINES = 40;
const CREDENTIALS = /^(ANTHROPIC|CLAUDE|SIDELIGHT|AWS|CLOUD_ML|GOOGLE)_/;
const KEPT = ['SIDELIGHT_CACHE', 'SIDELIGHT_REQUIRE', 'SIDELIGHT_TEST_SCALE'];

function readArguments() {
  const own = join(ROOT, '.venv/bin/python');
  const { values } = parseArgs({
    options: {
      'in-host': { type: 'boolean' },
      click: { type: 'boolean' },
      only: { type: 'string', default: '' },
      suites: { type: 'string', default: HERE },
      extension: { type: 'string', default: join(ROOT, 'client-vscode') }, // unpacked, for in-host
      vsix: { type: 'string', default: join(ROOT, 'client-vscode/sidelight.vsix') }, // for click
      python: { type: 'string', default: existsSync(own) ? own : 'python3' },
      results: { type: 'string', default: join(ROOT, 'test-results/vscode') },
    },
  });
  const both = !values['in-host'] && !values.click;
  for (const name of ['suites', 'extension', 'vsix', 'results']) values[name] = resolve(values[name]);
  return { ...values, inHost: both || values['in-host'], click: both || values.click };
}

/** Nothing of this machine's user reaches a test: no key, no home. */
function scrubEnvironment() {
  for (const name of Object.keys(process.env)) {
    if (CREDENTIALS.test(name) && !KEPT.includes(name)) delete process.env[name];
  }
}

/**
 * One run of a suite: a server, a double of the model, a workspace, and a home of its own; `use(run)` does the
 * testing. The suite's `suite.mjs` exports `prepare(t)`, which fills `t.workspace` (and `t.home`) and returns
 * the `settings`, the `env` and perhaps the `readyMark` of the extension.
 */
async function withRun(suite, options, serverOptions, use) {
  const results = join(options.results, suite);
  rmSync(results, { recursive: true, force: true });
  mkdirSync(results, { recursive: true });
  const server = new Server(serverOptions);
  let browser;
  let model;
  let workbench;
  try {
    model = await startModel(options.python, ROOT);
    const [workspace, home] = ['workspace', 'home'].map((name) => join(server.folder, name));
    for (const folder of [workspace, home]) mkdirSync(folder);
    const t = testContext({ root: ROOT, python: options.python, workspace, home, model, results });
    const { prepare } = await import(pathToFileURL(join(options.suites, suite, 'suite.mjs')));
    const { settings = {}, env = {}, readyMark } = await prepare(t);
    server.set(settings);
    server.env = { HOME: home, SIDELIGHT_HOME: join(home, 'sidelight'), ...env };
    browser = await launchBrowser(server.parts);
    workbench = new Workbench(server, browser, { readyMark });
    Object.assign(t, { workbench, until });
    return await use({ t, server, workbench, results });
  } finally {
    await browser?.close();
    await server.end();
    keepLogs(server, results);
    writeFileSync(join(results, 'console.log'), (workbench?.console ?? []).join('\n'));
    await model?.stop();
  }
}

function testContext(parts) {
  const place = (path) => join(parts.workspace, path);
  return {
    ...parts,
    read: (path) => readFileSync(place(path), 'utf8'),
    write(path, text) {
      mkdirSync(dirname(place(path)), { recursive: true });
      writeFileSync(place(path), text);
    },
    get page() {
      return this.workbench.page;
    },
    screenshot(name) {
      return this.workbench.screenshot(join(parts.results, `${name}.png`));
    },
  };
}

async function clickSuite(options, tests) {
  return withRun('click', options, { vsix: options.vsix }, async ({ t, server, workbench }) => {
    await server.start();
    let usable = false; // after a failure the page is opened anew: no dialog of one test meets the next
    return runTests(tests, t, {
      print: console.log,
      async before(test) {
        if (!usable) await workbench.open(t.workspace);
        else if (test.reload) await workbench.reload();
        usable = true;
      },
      async onFailure(test) {
        usable = false;
        await pictureOf(t, test);
        await workbench.page?.context().close(); // what a hanging test still awaits ends here
        process.stdout.write(ownLog(server));
      },
    });
  });
}

async function pictureOf(t, test) {
  try {
    console.log(`        picture: ${await t.screenshot(`FAIL ${test.name.replace(/\W+/g, '-')}`)}`);
  } catch (error) {
    console.log(`        no picture: ${error.message}`);
  }
}

async function inHostSuite(options) {
  return withRun('in-host', options, { smokeTestDriver: true }, async ({ t, server, workbench, results }) => {
    const [report, counts] = ['report.txt', 'counts.json'].map((name) => join(results, name));
    const folder = join(options.suites, 'in-host');
    const { workspace, model } = t;
    const order = { report, counts, folder, only: options.only, workspace, model: model.url };
    server.env = { ...server.env, SIDELIGHT_IN_HOST: JSON.stringify(order) };
    await server.start();
    const remote = (path) => `vscode-remote://${server.authority}${path}`;
    await workbench.newPage();
    let exit;
    await workbench.page.exposeFunction('codeAutomationLog', () => {}); // the report file says it in order
    await workbench.page.exposeFunction('codeAutomationExit', (code) => (exit = { code }));
    const address = server.address(t.workspace, [
      ['extensionDevelopmentPath', remote(options.extension)],
      ['extensionTestsPath', remote(join(HERE, 'in-host/index.cjs'))],
    ]);
    await workbench.page.goto(address, { timeout: READY_MS });
    try {
      await until('the end of the in-host suite', () => exit, IN_HOST_MS);
    } finally {
      if (existsSync(report)) process.stdout.write(readFileSync(report, 'utf8'));
      if (!existsSync(counts)) process.stdout.write(ownLog(server));
    }
    if (exit.code !== 0) throw new Error(`the in-host suite ended with ${exit.code}`);
    const counted = JSON.parse(readFileSync(counts, 'utf8'));
    if (counted.failed > 0) process.stdout.write(ownLog(server));
    return counted;
  });
}

/** The end of what the extension under test has logged, one part for each of its extension hosts. */
function ownLog(server) {
  const logs = join(server.userData, 'logs');
  const files = existsSync(logs) ? readdirSync(logs, { recursive: true }) : [];
  const own = files.filter((file) => /\/sidelight\.sidelight\/[^/]+\.log$/.test(file));
  const tail = (file) => readFileSync(join(logs, file), 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES);
  return own.flatMap((file) => [`        -- ${file}`, ...tail(file), '']).join('\n');
}

function keepLogs(server, results) {
  for (const [from, to] of [
    [server.log, 'server.log'],
    [join(server.userData, 'logs'), 'logs'],
  ]) {
    if (existsSync(from)) cpSync(from, join(results, to), { recursive: true });
  }
}

await runToExit(async () => {
  const options = readArguments();
  scrubEnvironment();
  const total = { passed: 0, failed: 0 };
  for (const [name, wanted, suite] of [
    ['in-host', options.inHost, inHostSuite],
    ['click', options.click, clickSuite],
  ]) {
    const tests = wanted ? await loadTests(join(options.suites, name), options.only) : [];
    if (wanted && tests.length === 0 && !options.only) throw new Error(`the suite ${name} has no test`);
    if (tests.length === 0) continue;
    console.log(`${name}:`);
    const { passed, failed } = await suite(options, tests);
    total.passed += passed;
    total.failed += failed;
  }
  if (total.passed + total.failed === 0) throw new Error(`no test has "${options.only}" in its name`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
});

// Opens a folder in a real VS Code workbench with the extension installed, for a person's own browser; runs
// until Ctrl-C. `--screenshot FILE` looks at it in a headless Chromium instead, saves the picture, and ends.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { runToExit } from './processes.mjs';
import { Server, THEMES } from './server.mjs';
import { launchBrowser, Workbench } from './workbench.mjs';

function readArguments() {
  const { values } = parseArgs({
    options: {
      vsix: { type: 'string' },
      workspace: { type: 'string' },
      settings: { type: 'string' }, // a JSON file with user settings
      theme: { type: 'string', default: 'dark' },
      ready: { type: 'string' }, // the status bar text to wait for before the picture
      screenshot: { type: 'string' },
    },
  });
  if (!values.vsix || !values.workspace)
    throw new Error('both --vsix FILE and --workspace FOLDER are needed');
  if (!THEMES[values.theme]) throw new Error(`--theme is one of ${Object.keys(THEMES).join(', ')}`);
  return values;
}

async function takePicture(server, workspace, { ready, screenshot }) {
  const browser = await launchBrowser(server.parts);
  try {
    const workbench = new Workbench(server, browser, { readyMark: ready });
    await workbench.open(workspace);
    console.log(`picture: ${await workbench.screenshot(resolve(screenshot))}`);
  } finally {
    await browser.close();
  }
}

await runToExit(async () => {
  const options = readArguments();
  const chosen = options.settings ? JSON.parse(readFileSync(options.settings, 'utf8')) : {};
  const settings = { 'workbench.colorTheme': THEMES[options.theme].id, ...chosen };
  const workspace = resolve(options.workspace);
  const server = new Server({ vsix: resolve(options.vsix), settings });
  await server.start();
  if (options.screenshot) {
    await takePicture(server, workspace, options);
  } else {
    console.log(`open ${server.address(workspace)}`);
    console.log('Ctrl-C ends it');
    await server.process.ended;
    throw new Error(`the server ended by itself:\n${server.process.output}`);
  }
  return 0;
});

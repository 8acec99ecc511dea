/** The commands of the prompt: what the panel itself can do, by name. */

import type { App } from './app';
import { t } from './l10n';

export interface Command {
  name: string;
  words: string;
  run: (app: App) => void;
}

/** All that can be done now. */
function all(app: App): Command[] {
  const { running, paused, changes, modes } = app.state.shell;
  const command =
    (name: 'sidelight.newConversation' | 'sidelight.reviewChanges' | 'sidelight.setKey') => () =>
      app.post({ type: 'command', command: name });
  const known: (Command | false)[] = [
    { name: 'new', words: t('Begin a new conversation'), run: command('sidelight.newConversation') },
    {
      name: 'clear',
      words: t('The same: this one stays in the history'),
      run: command('sidelight.newConversation'),
    },
    {
      name: 'resume',
      words: t('Go on with an earlier conversation'),
      run: () => app.post({ type: 'history', open: true }),
    },
    modes !== null && { name: 'mode', words: t('Choose the permission mode'), run: () => app.menu('mode') },
    { name: 'model', words: t('Choose the model'), run: () => app.menu('model') },
    { name: 'context', words: t('What fills the context, and the cost'), run: () => app.menu('context') },
    changes.length > 0 && {
      name: 'review',
      words: t('Go through the pending changes'),
      run: command('sidelight.reviewChanges'),
    },
    running && { name: 'stop', words: t('Stop what runs'), run: () => app.post({ type: 'stop' }) },
    running && {
      name: paused ? 'continue' : 'pause',
      words: paused ? t('Go on') : t('Pause before the next step'),
      run: () => app.post({ type: 'pause', on: !paused }),
    },
    { name: 'key', words: t('Enter an API key'), run: command('sidelight.setKey') },
    { name: 'help', words: t('Keys and commands'), run: () => app.menu('help') },
  ];
  return known.filter((one) => one !== false);
}

/** The commands whose name begins with what was typed, then those that hold it elsewhere. */
export function commands(app: App, query: string): Command[] {
  const wanted = query.toLowerCase();
  const known = all(app);
  const first = known.filter(({ name }) => name.startsWith(wanted));
  return [...first, ...known.filter((one) => !first.includes(one) && one.name.includes(wanted))];
}

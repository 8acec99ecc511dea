/** The view state from what the controller knows; a pure function of it. */

import type { Connection, Models } from './protocol';
import type { AskItem, Chip, Conversation, History, ServerStatus, ViewState } from './state';
import { emptyConversation } from './state';

export interface Known {
  conversation: Conversation | undefined;
  others: Conversation[];
  cwd: string;
  folder: string | null;
  sendWithCtrlEnter: boolean;
  connection: Connection | null;
  server: ServerStatus;
  chips: Chip[];
  history: History;
}

const NONE = emptyConversation('');

/** The question of a conversation that waits for an answer; the oldest when there are several. */
export function openQuestion(conversation: Conversation): AskItem | undefined {
  return conversation.items.find((item): item is AskItem => item.kind === 'ask' && item.answer === undefined);
}

/** The title the server gave, else the first prompt's first line. */
export function titleOf(conversation: Conversation): string {
  if (conversation.title) return conversation.title;
  const first = conversation.items.find((item) => item.kind === 'user');
  return first?.text.trim().split('\n')[0] ?? '';
}

/** What may be picked is the connection's, who answers the conversation's; nothing without a choice. */
function modelsOf({ models }: Conversation, connection: Connection | null): Models | null {
  const availableModels = connection?.models?.length ? connection.models : (models?.availableModels ?? []);
  const currentModelId = models?.currentModelId ?? connection?.model;
  return availableModels.length && currentModelId !== undefined ? { currentModelId, availableModels } : null;
}

export function viewState(known: Known): ViewState {
  const conversation = known.conversation ?? NONE;
  const others = known.others.filter((other) => other !== conversation && openQuestion(other)).length;
  return {
    items: conversation.items,
    shell: {
      sessionId: known.conversation?.sessionId ?? null,
      title: titleOf(conversation),
      folder: known.folder,
      cwd: known.cwd,
      running: conversation.running,
      paused: conversation.paused === true,
      waiting: openQuestion(conversation)?.id ?? null,
      queued: conversation.queued,
      tasks: conversation.tasks,
      changes: conversation.changes,
      redo: conversation.redo,
      modes: conversation.modes ?? null,
      models: modelsOf(conversation, known.connection),
      usage: conversation.usage ?? null,
      connection: known.connection,
      server: known.server,
      chips: known.chips,
      history: known.history,
      others,
      sendWithCtrlEnter: known.sendWithCtrlEnter,
    },
  };
}

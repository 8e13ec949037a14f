import { queryOptions } from '@tanstack/react-query'
import { send } from '#console/api/client.ts'
import { queryClient } from '#console/api/query.ts'
import { listMessages, type Message } from './requests.ts'
import type { Turn } from './turns.ts'

/** The newest messages of a conversation and the loaded earlier ones, oldest first. */
export interface Thread {
  messages: readonly Message[]
  hasEarlier: boolean
}

const keyOf = (chat: string, conversationId: string) => [chat, { conversationId }, 'thread'] as const

/** Fetches the newest messages; loaded earlier ones stay. */
export function threadQuery(chat: string, conversationId: string) {
  const queryKey = keyOf(chat, conversationId)
  return queryOptions({
    queryKey,
    staleTime: 0,
    queryFn: async ({ signal }): Promise<Thread> => {
      const { messages, meta } = await send(listMessages(chat, conversationId), { signal })
      return joinThread(queryClient.getQueryData<Thread>(queryKey), { messages, hasEarlier: meta.hasMore })
    },
  })
}

/** Joins the newest page to the known messages before it; drops those if there is a gap. */
export function joinThread(known: Thread | undefined, newest: Thread): Thread {
  const at = known?.messages.findIndex(({ id }) => id === newest.messages[0]?.id) ?? -1
  if (known === undefined || at < 1) return newest
  return { messages: [...known.messages.slice(0, at), ...newest.messages], hasEarlier: known.hasEarlier }
}

/** Loads the page before the first known message. */
export async function loadEarlier(chat: string, conversationId: string): Promise<void> {
  const queryKey = keyOf(chat, conversationId)
  const [first] = queryClient.getQueryData<Thread>(queryKey)?.messages ?? []
  if (first === undefined) return
  const { messages, meta } = await send(listMessages(chat, conversationId, first.id))
  queryClient.setQueryData<Thread>(queryKey, known =>
    known?.messages[0]?.id === first.id
      ? { messages: [...messages, ...known.messages], hasEarlier: meta.hasMore }
      : known,
  )
}

/** Shows a changed message as returned, and refetches the others: a read in progress might be older. */
export function showMessage(chat: string, message: Message): void {
  const queryKey = keyOf(chat, message.conversationId)
  queryClient.setQueryData<Thread>(
    queryKey,
    known =>
      known && { ...known, messages: known.messages.map(one => (one.id === message.id ? message : one)) },
  )
  void queryClient.invalidateQueries({ queryKey })
}

/** Returns the stored messages to show beside a running turn, without those it shows or will replace. */
export function besideTurn(messages: readonly Message[], turn: Turn | undefined): readonly Message[] {
  if (turn === undefined) return messages
  const at = messages.findIndex(({ id }) => id === turn.replaces || id === turn.userMessageId)
  if (at < 0) return messages
  const isQuestionKept = turn.replaces !== undefined && messages[at]?.role === 'user'
  return messages.slice(0, isQuestionKept ? at + 1 : at)
}

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useState } from 'react'
import { callerQuery } from '#console/api/caller.ts'
import { send } from '#console/api/client.ts'
import { invalidate, useRows } from '#console/api/query.ts'
import { createStore, useStore } from '#console/api/store.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { Time } from '#console/ui/time.tsx'
import { undoable } from '#console/ui/toast.tsx'
import { authorOf } from './author.ts'
import type { Conversation } from './requests.ts'
import { chatOf, deleteConversation, listConversations } from './requests.ts'
import { text } from './text.ts'

/** Conversations that are gone for the person, though their deletion can still be undone. */
const gone = createStore<readonly string[]>([])

const pauseMs = 200

function useLater<Value>(value: Value): Value {
  const [later, setLater] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), pauseMs)
    return () => clearTimeout(timer)
  }, [value])
  return later
}

type Filter = 'all' | 'mine' | 'telegram' | 'whatsapp'

function queryOf(filter: Filter, caller: string | undefined) {
  if (filter === 'mine') return { created_by: `person:${caller}` }
  return filter === 'all' ? {} : { channel: filter }
}

/** The conversations with an agent: found by words of their titles, the latest first. */
export function Conversations({ chosen }: { chosen: string | undefined }) {
  const t = useText(text)
  const frame = useText(frameText)
  const agent = useAgent()
  const caller = useQuery(callerQuery).data?.user?.email
  const [typed, setTyped] = useState('')
  const [filter, setFilter] = useState<Filter>('all')
  const search = useLater(typed.trim()) || undefined
  const request = listConversations(chatOf(agent), { search, ...queryOf(filter, caller) })
  const { rows, error, loadMore } = useRows<Conversation>(request, 'conversations')
  const hidden = useStore(gone)
  const shown = rows?.filter(({ id }) => !hidden.includes(id))
  const filters = Object.keys(t.filters).filter(name => name !== 'mine' || caller !== undefined) as Filter[]
  return (
    <>
      {agent.may('talk') && (
        <LinkButton to={`${agent.home}/chat`} search={{ write: 1 }} icon="plus">
          {t.newConversation}
        </LinkButton>
      )}
      <input
        type="search"
        className="input"
        aria-label={t.find}
        placeholder={t.find}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      {agent.may('read') && (
        <select
          className="input"
          aria-label={t.whose}
          value={filter}
          onChange={({ target }) => setFilter(target.value as Filter)}
        >
          {filters.map(name => (
            <option key={name} value={name}>
              {t.filters[name]}
            </option>
          ))}
        </select>
      )}
      {error && rows === undefined && <Problem error={error} />}
      {shown?.length === 0 && <p className="hint">{search ? t.noneFound : t.noConversations}</p>}
      <ul>
        {shown?.map(conversation => (
          <Row key={conversation.id} conversation={conversation} isChosen={conversation.id === chosen} />
        ))}
      </ul>
      {loadMore && <Button onClick={loadMore}>{frame.loadMore}</Button>}
    </>
  )
}

function Row({ conversation, isChosen }: { conversation: Conversation; isChosen: boolean }) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const id = useId()
  const caller = useQuery(callerQuery).data?.user?.email
  const { title, messageCount, lastMessageAt, createdAt } = conversation
  const author = authorOf(conversation, caller, t)
  const chat = chatOf(agent)

  function remove() {
    gone.set([...gone.get(), conversation.id])
    if (isChosen) void navigate({ to: `${agent.home}/chat` })
    undoable(t.removed, {
      undo: () => gone.set(gone.get().filter(one => one !== conversation.id)),
      async send() {
        await send(deleteConversation(chat, conversation.id))
        await invalidate([`${chat}/conversations`])
      },
    })
  }

  return (
    <li>
      <Link
        to={`${agent.home}/chat`}
        search={{ conversation: conversation.id }}
        aria-current={isChosen ? 'true' : undefined}
        className="row"
      >
        <bdi id={id}>{title.slice(0, 200)}</bdi>
        <small>
          {t.messages(messageCount)} · <Time at={lastMessageAt ?? createdAt} />
          {author !== undefined && <> · {t.by(author.slice(0, 100))}</>}
        </small>
      </Link>
      {agent.may('change') && (
        <Button
          kind="quiet"
          icon="trash"
          className="remove"
          label={t.removeNamed(title.slice(0, 80))}
          onClick={remove}
        />
      )}
    </li>
  )
}

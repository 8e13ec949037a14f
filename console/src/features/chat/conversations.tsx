import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { callerQuery } from '#console/api/caller.ts'
import { send } from '#console/api/client.ts'
import { parseExact } from '#console/api/exact-json.ts'
import { invalidate, query, useChange, useRows } from '#console/api/query.ts'
import { createStore, useStore } from '#console/api/store.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button, LinkButton } from '#console/ui/button.tsx'
import { Problem } from '#console/ui/empty.tsx'
import { onKeys } from '#console/ui/keys.ts'
import { Menu } from '#console/ui/menu.tsx'
import { Status } from '#console/ui/status.tsx'
import { Time } from '#console/ui/time.tsx'
import { toast, toastError, undoable } from '#console/ui/toast.tsx'
import { authorOf, useMayAct } from './author.ts'
import {
  type Conversation,
  chatOf,
  deleteConversation,
  exportOf,
  getAttention,
  importConversation,
  listConversations,
  renameConversation,
} from './requests.ts'
import { text } from './text.ts'

/** Conversations that are hidden from the person while their deletion can still be undone. */
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

/** The conversations with an agent, searchable by words of titles and messages, latest first. */
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
  const waiting = useWaiting()
  const filters = Object.keys(t.filters).filter(name => name !== 'mine' || caller !== undefined) as Filter[]
  return (
    <>
      {agent.may('talk') && (
        <div className="begin">
          <LinkButton to={`${agent.home}/chat`} search={{ write: 1 }} icon="plus">
            {t.newConversation}
          </LinkButton>
          {agent.may('change') && <ImportButton />}
        </div>
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
          <Row
            key={conversation.id}
            conversation={conversation}
            isChosen={conversation.id === chosen}
            isWaiting={waiting.includes(conversation.id)}
          />
        ))}
      </ul>
      {loadMore && <Button onClick={loadMore}>{frame.loadMore}</Button>}
    </>
  )
}

/** Conversations whose calls wait for a person, as the frame counts them. */
function useWaiting(): readonly (string | undefined)[] {
  const agent = useAgent()
  const waiting = query(getAttention(agent), { isShown: false })
  const { items = [] } = useQuery({ ...waiting, enabled: agent.may('read') }).data ?? {}
  return items.flatMap(({ kind, conversation_id }) => (kind === 'tool_approval' ? [conversation_id] : []))
}

interface RowProps {
  conversation: Conversation
  isChosen: boolean
  isWaiting: boolean
}

function Row({ conversation, isChosen, isWaiting }: RowProps) {
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

  const [isRenaming, setRenaming] = useState(false)
  const mayRename = useMayAct(conversation)
  function endRenaming(isByKey: boolean) {
    flushSync(() => setRenaming(false))
    if (isByKey) document.getElementById(id)?.closest('a')?.focus()
  }
  if (isRenaming)
    return (
      <li>
        <Rename conversation={conversation} onDone={endRenaming} />
      </li>
    )
  const download = (format: 'md' | 'json') => () =>
    Object.assign(document.createElement('a'), {
      href: exportOf(chat, conversation.id, format),
      download: '',
    }).click()
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
        {isWaiting && <Status tone="warn">{t.state.waits}</Status>}
      </Link>
      <Menu
        button={{ kind: 'quiet', icon: 'more', className: 'more', label: t.actionsOf(title.slice(0, 80)) }}
        items={[
          mayRename && { label: t.rename, icon: 'edit', run: () => setRenaming(true) },
          { label: t.exportMarkdown, icon: 'download', run: download('md') },
          { label: t.exportJson, icon: 'download', run: download('json') },
          agent.may('change') && { label: t.remove, icon: 'trash', isDangerous: true, run: remove },
        ]}
      />
    </li>
  )
}

/** Max characters, the same as in the service. */
const maxTitle = 200

interface RenameProps {
  conversation: Conversation
  onDone(isByKey: boolean): void
}

/** The name of a conversation as a field: Enter or leaving it saves; Escape cancels. */
function Rename({ conversation: { id, title }, onDone }: RenameProps) {
  const t = useText(text)
  const chat = chatOf(useAgent())
  const rename = useChange(renameConversation(chat, id), { changes: [`${chat}/conversations`] })
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(title)
  useEffect(() => field.current?.select(), [])
  function save(isByKey: boolean) {
    const name = typed.trim()
    if (rename.isPending) return
    if (name === '' || name === title) onDone(isByKey)
    else rename.mutate(name, { onError: toastError, onSettled: () => onDone(isByKey) })
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        save(true)
      }}
    >
      <input
        ref={field}
        className="input"
        aria-label={t.renameNamed(title.slice(0, 80))}
        maxLength={maxTitle}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onBlur={() => save(false)}
        onKeyDown={onKeys({ Escape: () => onDone(true) })}
      />
    </form>
  )
}

/** A button that imports a conversation from an exported file, and opens it. */
function ImportButton() {
  const t = useText(text)
  const agent = useAgent()
  const chat = chatOf(agent)
  const navigate = useNavigate()
  const input = useRef<HTMLInputElement>(null)

  async function take(file: File) {
    const body = readJson(await file.text())
    if (body === undefined) throw new Error(t.notJson(file.name.slice(0, 80)))
    const { id } = await send(importConversation(chat, body), { isShown: false })
    await invalidate([`${chat}/conversations`])
    toast(t.imported)
    await navigate({ to: `${agent.home}/chat`, search: { conversation: id } })
  }

  return (
    <>
      <Button kind="quiet" icon="upload" label={t.import} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        accept=".json"
        aria-label={t.import}
        onChange={({ target }) => {
          const [file] = target.files ?? []
          if (file) take(file).catch(toastError)
          target.value = ''
        }}
      />
    </>
  )
}

function readJson(written: string): unknown {
  try {
    return parseExact(written)
  } catch {
    return undefined
  }
}

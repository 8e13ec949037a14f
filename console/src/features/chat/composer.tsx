import { useQuery } from '@tanstack/react-query'
import { type ClipboardEvent, useEffect, useRef, useState } from 'react'
import { query, useChange } from '#console/api/query.ts'
import { createStore, useStore } from '#console/api/store.ts'
import { formatNumber } from '#console/i18n/format.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { keyOf, onEnter } from '#console/ui/keys.ts'
import { toastError } from '#console/ui/toast.tsx'
import { type AddedFile, addedFiles, addFiles, isOnItsWay, takeFiles } from './added-files.ts'
import { AddedFiles } from './files.tsx'
import { type CurrentTurn, chatOf, listModels, stopTurn } from './requests.ts'
import { text } from './text.ts'
import { draftKey, drafts, setDraft, startTurn, type Turn } from './turns.ts'

/** Max characters, the same as in the service. */
const maxLength = 100_000

/** Chosen models by chat; defaults to the agent's setting. */
const models = createStore<Readonly<Record<string, string>>>({})
export const modelFor = (chat: string): string | undefined => models.get()[chat] || undefined

export interface ComposerProps {
  conversationId: string | undefined
  /** Set by a link to a new conversation, which focuses the field. */
  write: number | undefined
  running: Turn | undefined
  /** The turn that waits for a person. */
  waits: CurrentTurn | undefined
  /** True if a message was refused because of the waiting turn. */
  isHeld: boolean
  onSent(turn: Turn): void
}

/** The field for a message: Enter sends it, Shift Enter begins a line. Its button stops a running answer. */
export function Composer({ conversationId, write, running, waits, isHeld, onSent }: ComposerProps) {
  const t = useText(text)
  const agent = useAgent()
  const chat = chatOf(agent)
  const key = draftKey(chat, conversationId)
  const draft = useStore(drafts)[key] ?? ''
  const [autoRag, setAutoRag] = useState(true)
  const [enableTools, setEnableTools] = useState(true)
  const files = useStore(addedFiles).filter(file => file.key === key)
  const isTooLong = draft.length > maxLength
  const isWritten = draft.trim() !== '' || files.some(({ stored }) => stored !== undefined)
  const isReady = isWritten && !isTooLong && running === undefined && !files.some(isOnItsWay)

  // A link to a new conversation focuses the field, except on touch screens, to avoid the keyboard.
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (write !== undefined && matchMedia('(hover: hover)').matches) field.current?.focus()
  }, [write])

  useEscape(running?.stop)

  function send(endsWait = false) {
    if (!isReady) return
    if (endsWait) field.current?.focus()
    setDraft(key, '')
    const model = modelFor(chat)
    const options = {
      autoRag,
      enableTools,
      ...(model && { model }),
      ...(conversationId && { conversationId }),
    }
    const content = draft.trim() === '' ? {} : { content: draft }
    const ends = endsWait ? waits?.id : undefined
    onSent(startTurn(chat, { ...content, ...options }, { files: takeFiles(key), ends }))
  }

  return (
    <form
      className="composer"
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
    >
      {isHeld && waits?.waiting && (
        <Held tool={waits.waiting.tool} isReady={isReady} onSend={() => send(true)} />
      )}
      <AddedFiles files={files} />
      <textarea
        ref={field}
        aria-label={t.message}
        placeholder={t.ask(agent.name)}
        aria-describedby="too-long"
        aria-invalid={isTooLong || undefined}
        rows={1}
        dir="auto"
        value={draft}
        onChange={({ target }) => setDraft(key, target.value)}
        onPaste={event => {
          const pasted = pastedFiles(event)
          if (pasted.length > 0) addFiles(chat, key, pasted)
        }}
        onKeyDown={onEnter(() => send())}
      />
      <p id="too-long" className="error" hidden={!isTooLong}>
        {t.tooLong(formatNumber(draft.length), formatNumber(maxLength))}
      </p>
      <BlindHint chat={chat} files={files} />
      <div className="controls">
        <AttachButton onFiles={given => addFiles(chat, key, given)} />
        <Toggle name={t.documents} hint={t.documentsHint} isOn={autoRag} onChange={setAutoRag} />
        <Toggle name={t.tools} hint={t.toolsHint} isOn={enableTools} onChange={setEnableTools} />
        <ModelChoice chat={chat} />
        <Ends chat={chat} running={running} waits={waits} isReady={isReady} />
      </div>
    </form>
  )
}

/** Explains why the message was not sent, and offers to send it nevertheless. */
function Held({ tool, isReady, onSend }: { tool: string; isReady: boolean; onSend(): void }) {
  const t = useText(text)
  return (
    <div className="held" role="alert">
      <p>{t.held(tool)}</p>
      <Button disabled={!isReady} onClick={onSend}>
        {t.refuseAndSend}
      </Button>
    </div>
  )
}

interface EndsProps extends Pick<ComposerProps, 'running' | 'waits'> {
  chat: string
  isReady: boolean
}

/** The buttons that send and stop; both are shown beside a waiting turn. */
function Ends({ chat, running, waits, isReady }: EndsProps) {
  const t = useText(text)
  return (
    <span className="ends">
      {running && <Button icon="stop" label={t.stop} onClick={running.stop} />}
      {waits && !running && <StopWaiting chat={chat} turnId={waits.id} />}
      {!running && <Button type="submit" kind="primary" icon="up" label={t.send} disabled={!isReady} />}
    </span>
  )
}

/** Only its button stops it: a key that was pressed for another purpose must not end an hours-long wait. */
function StopWaiting({ chat, turnId }: { chat: string; turnId: string }) {
  const t = useText(text)
  const stop = useChange(() => stopTurn(chat, turnId), { changes: [chat] })
  return (
    <Button
      icon="stop"
      label={t.stop}
      disabled={stop.isPending}
      onClick={() => stop.mutate(undefined, { onError: toastError })}
    />
  )
}

/** Returns a paste's files, unless it is text: office programs copy text with a picture of it. */
function pastedFiles(event: ClipboardEvent): readonly File[] {
  const { files, types } = event.clipboardData
  if (files.length === 0 || types.includes('text/plain')) return []
  event.preventDefault()
  return [...files]
}

/** Escape calls `stop`, unless the key closes something first. */
function useEscape(stop: (() => void) | undefined): void {
  useEffect(() => {
    if (stop === undefined) return
    const press = (event: KeyboardEvent) => {
      const isForOther =
        event.defaultPrevented || document.querySelector('dialog[open], :popover-open') !== null
      if (keyOf(event) === 'Escape' && !isForOther) stop()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [stop])
}

function AttachButton({ onFiles }: { onFiles(files: readonly File[]): void }) {
  const t = useText(text)
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button kind="quiet" icon="clip" label={t.attach} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={t.attach}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          target.value = ''
        }}
      />
    </>
  )
}

/** A warning if the chosen model is known not to see images. */
function BlindHint({ chat, files }: { chat: string; files: readonly AddedFile[] }) {
  const t = useText(text)
  const chosen = useStore(models)[chat]
  const known = useQuery(query(listModels(chat), { isShown: false })).data?.models
  const model = known?.find(({ provider, id }) => `${provider}/${id}` === chosen)
  const hasImages = files.some(({ stored }) => stored?.kind === 'image')
  return model?.supportsImages === false && hasImages ? <p className="hint">{t.blind}</p> : null
}

interface ToggleProps {
  name: string
  hint: string
  isOn: boolean
  onChange(isOn: boolean): void
}

function Toggle({ name, hint, isOn, onChange }: ToggleProps) {
  return (
    <button type="button" className="chip" title={hint} aria-pressed={isOn} onClick={() => onChange(!isOn)}>
      {name}
    </button>
  )
}

function ModelChoice({ chat }: { chat: string }) {
  const t = useText(text)
  const chosen = useStore(models)[chat] ?? ''
  const known = useQuery(query(listModels(chat), { isShown: false })).data?.models ?? []
  return (
    <select
      className="chip"
      aria-label={t.model}
      value={chosen}
      onChange={({ target }) => models.set({ ...models.get(), [chat]: target.value })}
    >
      <option value="">{t.modelAsSet}</option>
      {known.map(({ id, name, provider }) => (
        <option key={`${provider}/${id}`} value={`${provider}/${id}`}>
          {name}
        </option>
      ))}
    </select>
  )
}

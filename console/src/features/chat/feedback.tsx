import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callerQuery } from '#console/api/caller.ts'
import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { onKeys } from '#console/ui/keys.ts'
import { toastError } from '#console/ui/toast.tsx'
import { authorOf, useMayAct } from './author.ts'
import { chatOf, type FeedbackChange, type Message, rateMessage } from './requests.ts'
import { text } from './text.ts'
import { showMessage } from './thread.ts'

/** Max characters, the same as in the service. */
const maxComment = 2000

function useRating({ id, feedback }: Message) {
  const chat = chatOf(useAgent())
  const rate = useChange(rateMessage(chat, id), {
    changes: [],
    onDone: answer => showMessage(chat, answer),
  })
  const send = (change: FeedbackChange) => rate.mutateAsync(change).catch(toastError)
  return { send, rating: rate.isPending ? rate.variables.rating : (feedback?.rating ?? null) }
}

/** Buttons that rate an answer; a second press removes the rating. A comment can follow. */
export function Feedback({ message }: { message: Message }) {
  const t = useText(text)
  const { send, rating } = useRating(message)
  const [isWriting, setWriting] = useState(false)
  const comment = message.feedback?.comment
  function press(pressed: 1 | -1) {
    const isBack = rating === pressed
    setWriting(!isBack && comment === undefined)
    void send({ rating: isBack ? null : pressed })
  }
  if (!useMayAct(message)) return <Said message={message} />
  return (
    <>
      <Button kind="quiet" icon="like" label={t.good} aria-pressed={rating === 1} onClick={() => press(1)} />
      <Button
        kind="quiet"
        icon="dislike"
        label={t.bad}
        aria-pressed={rating === -1}
        onClick={() => press(-1)}
      />
      {rating !== null && !isWriting && (
        <Button kind="quiet" icon="edit" label={t.writeComment} onClick={() => setWriting(true)} />
      )}
      {rating !== null && isWriting && (
        <CommentForm
          comment={comment ?? ''}
          onSave={written => send({ rating, ...(written !== '' && { comment: written }) })}
          onClose={() => setWriting(false)}
        />
      )}
      {!isWriting && <Said message={message} />}
    </>
  )
}

/** The comment on an answer, with its author. */
function Said({ message: { id, feedback } }: { message: Message }) {
  const t = useText(text)
  const caller = useQuery(callerQuery).data?.user?.email
  if (feedback === undefined) return null
  const author = authorOf({ id, created_by: feedback.created_by }, caller, t)
  return (
    <p className="hint said">
      {feedback.rating === 1 ? t.ratedGood : t.ratedBad}
      {author !== undefined && <> {t.by(author.slice(0, 100))}</>}
      {feedback.comment !== undefined && <bdi>: {feedback.comment}</bdi>}
    </p>
  )
}

interface CommentFormProps {
  comment: string
  onSave(written: string): Promise<unknown>
  onClose(): void
}

function CommentForm({ comment, onSave, onClose }: CommentFormProps) {
  const t = useText(text)
  const [written, setWritten] = useState(comment)
  return (
    <form
      className="comment"
      onSubmit={async event => {
        event.preventDefault()
        await onSave(written.trim())
        onClose()
      }}
      onKeyDown={onKeys({ Escape: onClose })}
    >
      <input
        className="input"
        aria-label={t.comment}
        placeholder={t.comment}
        maxLength={maxComment}
        value={written}
        onChange={({ target }) => setWritten(target.value)}
      />
      <Button type="submit">{t.save}</Button>
      <Button kind="quiet" icon="close" label={t.noComment} onClick={onClose} />
    </form>
  )
}

const element = id => document.getElementById(id)

/** Seconds before the end at which the rest is announced; screen readers can't speak each second. */
const announcedAt = [300, 120, 60, 30, 10]
const extensionSeconds = 600

/** Milliseconds that the service's clock is ahead of this one. */
const ahead = Number(document.documentElement.dataset.now) - Date.now()

/** Shows the request to a person, its time, and its end. */
export function createTakeoverBar({ send, announce }) {
  let takeover
  let timer
  let announced = Number.POSITIVE_INFINITY

  element('extend').addEventListener('click', () => send({ type: 'extend', seconds: extensionSeconds }))
  element('hide').addEventListener('click', () => send({ type: 'hide', hidden: !takeover.hidden }))
  const dialog = element('handing-back')
  element('hand-back').addEventListener('click', () => dialog.showModal())
  element('stay').addEventListener('click', () => dialog.close())
  dialog.addEventListener('submit', event => {
    event.preventDefault()
    const isSent = send({ type: 'handBack', note: element('note').value })
    element('unsent').hidden = isSent
    if (isSent) dialog.close()
  })

  function tick() {
    const left = Math.max(0, Math.round((Date.parse(takeover.expires_at) - Date.now() - ahead) / 1000))
    const seconds = String(left % 60).padStart(2, '0')
    element('time').textContent = `${Math.floor(left / 60)}:${seconds} left`
    const due = announcedAt.findLast(mark => left <= mark) ?? Number.POSITIVE_INFINITY
    if (due < announced) announce(`${inWords(left)} left.`)
    announced = due
  }

  return {
    /** @param shown null without a takeover */
    show(shown) {
      takeover = shown
      clearInterval(timer)
      element('takeover').hidden = shown === null
      if (shown === null) {
        dialog.close()
        return
      }
      element('reason').textContent = shown.reason
      element('hide').ariaPressed = String(shown.hidden)
      timer = setInterval(tick, 1000)
      tick()
    },
  }
}

function inWords(seconds) {
  return seconds < 90 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`
}

/** Shows questions of pages (`alert`, `confirm`, `prompt`, leaving) one after the other. */
export function createQuestions({ send, hostOf }) {
  /** Waiting questions, by tab. */
  const waiting = new Map()
  const dialog = element('question')
  const answer = element('answer')

  function reply(accept) {
    const [[pageId, { kind }]] = waiting
    const text = kind === 'prompt' && accept ? answer.value : undefined
    send({ type: 'dialogAnswer', pageId, accept, text })
    remove(pageId)
  }

  function remove(pageId) {
    waiting.delete(pageId)
    dialog.close()
    showNext()
  }

  function showNext() {
    const [next] = waiting.values()
    if (next === undefined || dialog.open) return
    const { pageId, kind, message, defaultValue } = next
    const leaves = kind === 'beforeunload'
    element('question-title').textContent = leaves ? 'Leave this page?' : `${hostOf(pageId)} says`
    element('question-text').textContent = leaves ? 'What you have entered may be lost.' : message
    element('dismiss').hidden = kind === 'alert'
    element('dismiss').textContent = leaves ? 'Stay' : 'Cancel'
    element('accept').textContent = leaves ? 'Leave' : 'OK'
    answer.hidden = kind !== 'prompt'
    answer.value = defaultValue ?? ''
    dialog.showModal()
  }

  dialog.addEventListener('submit', event => {
    event.preventDefault()
    reply(true)
  })
  element('dismiss').addEventListener('click', () => reply(false))
  dialog.addEventListener('cancel', event => {
    event.preventDefault()
    reply(false)
  })

  return {
    ask(question) {
      waiting.set(question.pageId, question)
      showNext()
    },
    remove: pageId => waiting.has(pageId) && remove(pageId),
    clear() {
      waiting.clear()
      dialog.close()
    },
  }
}

import type { BrowserSession } from '../sessions/browser-session.ts'

/** Something that a page did besides, since the last result. */
interface Happenings {
  dialogs?: { type: string; message: string; accepted: boolean }[]
  refused?: string[]
}

/** Of each kind in one result. */
const maxReported = 20
const longestMessage = 1000

interface Accepts {
  all: boolean
  /** Questions whether to leave the page. */
  leaving: boolean
}

/** Collects what happens in the session, whether or not an action causes it, until it is taken. */
export function collectHappenings(session: BrowserSession) {
  const dialogs: NonNullable<Happenings['dialogs']> = []
  const refused: string[] = []
  let accepts: Accepts = { all: false, leaving: false }
  session.answerDialog = async dialog => {
    const isAsked = dialog.type() === 'beforeunload' ? accepts.leaving : dialog.type() === 'alert'
    const accepted = accepts.all || isAsked
    const message = dialog.message().slice(0, longestMessage)
    if (dialogs.length < maxReported) dialogs.push({ type: dialog.type(), message, accepted })
    await (accepted ? dialog.accept(dialog.defaultValue()) : dialog.dismiss())
  }
  session.events.on('address.refused', ({ url }) => {
    if (refused.length < maxReported) refused.push(url.slice(0, 200))
  })
  return {
    acceptDialogs(next: Accepts): void {
      accepts = next
    },
    take(): Happenings {
      return {
        ...(dialogs.length > 0 && { dialogs: dialogs.splice(0) }),
        ...(refused.length > 0 && { refused: refused.splice(0) }),
      }
    },
  }
}

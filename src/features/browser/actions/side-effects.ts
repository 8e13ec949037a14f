import type { BrowserSession } from '../sessions/browser-session.ts'

/** Effects of a page after the last result, besides an action's own. */
interface SideEffects {
  dialogs?: { type: string; message: string; accepted: boolean }[]
  refused?: string[]
}

/** Max number of each kind in one result. */
const maxReported = 20
const longestMessage = 1000

interface Accepts {
  all: boolean
  /** Accepts questions to leave the page. */
  leaving: boolean
}

/** Collects the side effects in the session, with or without an action, until they are taken. */
export function collectSideEffects(session: BrowserSession) {
  const dialogs: NonNullable<SideEffects['dialogs']> = []
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
    take(): SideEffects {
      return {
        ...(dialogs.length > 0 && { dialogs: dialogs.splice(0) }),
        ...(refused.length > 0 && { refused: refused.splice(0) }),
      }
    },
  }
}

import type { Waiting } from '../rows/turns.repository.ts'
import type { WaitingCall } from '../turn/turn.ts'

/** The ways in which a wait ends without continuing the turn. */
export type WaitEnd = 'overtaken' | 'stopped' | 'abandoned'

export const wordsOf: Record<WaitEnd, string> = {
  overtaken: 'This call was refused: a new message came instead of a decision.',
  stopped: 'This call was not made: the turn was stopped while it waited.',
  abandoned: 'The turn ended while it waited: what had begun it has ended, or was deleted.',
}

/** The reasons why a call waits. */
export const reasonOf: Record<WaitingCall['rule'], string> = {
  always: 'The tool is set so that a person agrees to each call.',
  tainted:
    'The tool needs the approval of a person, because this conversation holds text from documents, pages, tools or outsiders.',
  browser: 'A person is needed in the browser.',
}

/** The result of the waiting call, in the stored answer. */
export const waitsForPerson = 'This call waits for the approval of a person. It was not made yet.'

/** An error for the model. */
export const refused = 'A person has refused this call.'

/** An error for the model. */
export const browserLost =
  'The browser session has ended with its process while a person was asked to take it over, so what they did there is lost. Open the ' +
  'page again and ask once more, or say that a person is needed.'

export function expiryOf({ session_id, tool, until }: Waiting): string {
  return session_id === undefined
    ? `Nobody decided on the call of ${tool} until ${until}, so it was not made and the answer ended there.`
    : `Nobody took the browser over and handed it back until ${until}, so the answer ended there.`
}

import type { CitedPassage, SearchedPassage } from '../language-model/passages.ts'
import type { BuiltInRules } from './built-in-tools.ts'

/** The turn of a conversation that offers tools. */
export interface ToolTurn {
  /** Undefined for a conversation that its caller stores, and for a single question. */
  conversationId: string | undefined
  /** True if its caller may only chat. */
  isOutsider: boolean
  /** Max seconds to park the turn for a person (by CallWaits); absent if the call itself waits. */
  waitSeconds?: number | undefined
  /** Searches the documents that people sent in the conversation; absent without documents. */
  searchFiles?:
    | ((query: string, limit: number, signal: AbortSignal) => Promise<SearchedPassage[]>)
    | undefined
  /** How the agent uses built-in tools; read from its settings where it is absent. */
  builtInRules?: BuiltInRules
  /** Reports an event to the caller of the turn while a call runs. */
  report(event: ToolEvent): void
}

/** A turn for those who want to know which tools there are. */
export const anyTurn: ToolTurn = { conversationId: '', isOutsider: false, report() {} }

export type ToolEvent =
  /** A web page was read, which the answer lists. */
  | { type: 'page_read'; url: string; title: string }
  /** Passages of the agent's documents were found, which the answer lists. */
  | { type: 'passages_found'; passages: readonly CitedPassage[] }
  /** A person must take over a browser session; the link is null for callers who may not. */
  | {
      type: 'takeover_requested'
      session_id: string
      reason: string
      expires_at: string
      takeover_url: string | null
    }

/** A step that a person must do in a browser session before a call can end. */
export interface PersonWait {
  session_id: string
  /** The reason for the person to read. */
  reason: string
  /**
   * Returns the result of the call, once the person is done; to be called once, in this process. An abort
   * withdraws the request. Throws APPROVAL_EXPIRED if no person came in time.
   * @param prolonged called with each later end, in milliseconds since the epoch
   */
  result(signal: AbortSignal, prolonged: (until: number) => void): Promise<string>
}

/** Thrown by a call to park its turn during the wait. */
export class CallWaits extends Error {
  readonly wait: PersonWait

  constructor(wait: PersonWait) {
    super('the call waits for a person')
    this.wait = wait
  }
}

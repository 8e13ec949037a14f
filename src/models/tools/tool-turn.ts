import type { CitedPassage, SearchedPassage } from '../language-model/passages.ts'

/** The turn of a conversation that tools are offered to. */
export interface ToolTurn {
  /** Undefined for one that its caller keeps, and for a single question. */
  conversationId: string | undefined
  /** Its caller may chat and no more. */
  isOutsider: boolean
  /** Seconds that it may be parked while a call waits for a person, which throws CallWaits; absent where the call waits itself. */
  waitSeconds?: number | undefined
  /** Searches the documents that people sent in the conversation; absent where there are none. */
  searchFiles?:
    | ((query: string, limit: number, signal: AbortSignal) => Promise<SearchedPassage[]>)
    | undefined
  /** Reports to the caller of the turn while a call runs. */
  report(event: ToolEvent): void
}

export type ToolEvent =
  /** A web page was read, which is listed on the answer. */
  | { type: 'page_read'; url: string; title: string }
  /** Passages of the agent's documents were found, which are listed on the answer. */
  | { type: 'passages_found'; passages: readonly CitedPassage[] }
  /** A person has to take a browser session over; the link is null for callers who may not. */
  | {
      type: 'takeover_requested'
      session_id: string
      reason: string
      expires_at: string
      takeover_url: string | null
    }

/** A person has to do something in a browser session before a call can end. */
export interface PersonWait {
  session_id: string
  /** For the person. */
  reason: string
  /**
   * The result of the call, once the person is done; to be called once, in this process. An abort withdraws the request.
   * Throws APPROVAL_EXPIRED if no person came in time.
   * @param prolonged called with the new end, in milliseconds since the epoch, whenever the person has more time
   */
  result(signal: AbortSignal, prolonged: (until: number) => void): Promise<string>
}

/** Thrown by a call whose turn is to be parked meanwhile. */
export class CallWaits extends Error {
  readonly wait: PersonWait

  constructor(wait: PersonWait) {
    super('the call waits for a person')
    this.wait = wait
  }
}

import type { CitedPassage, SearchedPassage } from '../language-model/passages.ts'

/** The turn of a conversation that tools are offered to. */
export interface ToolTurn {
  /** Undefined for one that its caller keeps, and for a single question. */
  conversationId: string | undefined
  /** Its caller may chat and no more. */
  isOutsider: boolean
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

interface SourceNews {
  agentId: string
  sourceId: string
  name: string
}

/** News of this feature on the event bus. */
export interface SourceEvents {
  'source.ready': SourceNews & { chunks: number }
  'source.error': SourceNews & { error: string }
}

interface SourceEvent {
  agentId: string
  sourceId: string
  name: string
}

/** The events of this feature on the event bus. */
export interface SourceEvents {
  'source.ready': SourceEvent & { chunks: number }
  'source.error': SourceEvent & { error: string }
}

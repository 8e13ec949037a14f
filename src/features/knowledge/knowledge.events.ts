interface SourceEvent {
  agentId: string
  sourceId: string
  name: string
}

/** How work on a source ends: processing it, or giving its chunks another embedding. */
export interface SourceEvents {
  'source.ready': SourceEvent & { chunks: number }
  'source.error': SourceEvent & { error: string }
}

/** The events of this feature. */
export interface BrowserEvents {
  'browser.takeover_requested': {
    agentId: string
    session_id: string
    takeover_id: string
    reason: string
    requested_by: string
    expires_at: string
    takeover_url: string
  }
}

import { send } from '#console/api/client.ts'
import { post } from '#console/api/request.ts'

/** Returns the address of the sign-in, which then returns to the current view. */
export const signInAddress = () =>
  `/sign-in?return_to=${encodeURIComponent(location.pathname + location.search)}`

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  await send(post('/api/auth/sign-out'), { isShown: false })
  location.assign('/sign-in')
}

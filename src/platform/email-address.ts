/**
 * What counts as an e-mail address, wherever one is given. The identity gateway vouches for those of its users, so nothing is
 * refused that it may name: a domain without a dot, or letters of any script.
 */
export const emailAddress = /^[^\s@]+@[^\s@]+$/

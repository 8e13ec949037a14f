/** Pages of the website that is crawled; `/` and `/pages/0` are two addresses of the same text. */
export const pageCount = 200

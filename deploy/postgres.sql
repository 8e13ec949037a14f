-- Compares the vectors of providers' embeddings; without it each search reads all of them.
create extension if not exists vector;

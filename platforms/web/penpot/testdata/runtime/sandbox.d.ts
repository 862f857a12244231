// The sandbox gives plugins this of the window; the types of the API know nothing of it.
declare function atob(data: string): string;

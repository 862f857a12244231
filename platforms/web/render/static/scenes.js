// The pictures of a list of drawings, one after the other: each is drawn for it.
for (const picture of document.querySelectorAll(".scenes img[data-src]")) {
  await new Promise((done) => {
    picture.onload = picture.onerror = done;
    picture.src = picture.dataset.src;
  });
}

document.body.classList.add('scripted');

# Built in two stages.
FROM node:22 AS build
WORKDIR /app
COPY . .
RUN npm ci && npm run build

FROM nginx:1.27
ENV PORT=80
COPY --from=build /app/dist /usr/share/nginx/html
CMD ["nginx"]
